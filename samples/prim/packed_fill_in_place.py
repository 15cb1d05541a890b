# title: A tensor that is written
# shows: `Tensor(a!) self` is written in place; what a name holds changes with it
# source: PyTorch, aten/src/ATen/native/native_functions.yaml
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((3,), "float32")):
        y = R.add(x, x)
        z = R.call_packed("libtorch_fill_", y, value=2.5)
        return (y, z)
