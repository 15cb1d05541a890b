# title: A scalar that is computed from a shape
# shows: `n * 2` is a host scalar, and the alpha of an addition
# source: PyTorch, aten/src/ATen/native/native_functions.yaml
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        y = R.call_dps_packed("libtorch_add_out", (x, x), alpha=n * 2, out_ty=R.Tensor((n,), "float32"))
        return y
