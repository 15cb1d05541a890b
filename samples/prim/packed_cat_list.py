# title: A list of tensors
# shows: `Tensor[]` is a tuple of tensors; the sizes along the axis are added up
# source: PyTorch, aten/src/ATen/native/native_functions.yaml
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((4, 3), "float32")):
        rows = R.call_pure_packed("libtorch_cat", (x, y))
        pair = R.call_pure_packed("libtorch_stack", (rows, rows), dim=1)
        return pair
