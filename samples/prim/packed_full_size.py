# title: A tensor made of host scalars
# shows: the size is a list of ints, the dtype a dtype, and both make the type
# source: PyTorch, aten/src/ATen/native/native_functions.yaml
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 3), "float32")):
        n = T.int64()
        a = R.call_pure_packed("libtorch_full", [n, 2], 7)
        b = R.call_pure_packed("libtorch_arange", 0, 10, step=3, dtype="float32")
        return (a, b)
