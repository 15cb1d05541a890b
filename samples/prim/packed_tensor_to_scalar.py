# title: From a tensor to a host scalar and on
# shows: `item` takes the number out of a tensor; it is the alpha of the next call
# source: PyTorch, aten/src/ATen/native/native_functions.yaml
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((3,), "float32")):
        total = R.call_pure_packed("libtorch_sum", x)
        alpha = R.call_pure_packed("libtorch_item", total)
        y = R.call_pure_packed("libtorch_add", x, x, alpha=alpha)
        return y
