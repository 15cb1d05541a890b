# title: An axis that is computed
# shows: the type of the result does not know its sizes; the axis is checked when it runs
# source: PyTorch, aten/src/ATen/native/native_functions.yaml
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3, 4), "float32"), axis: R.Prim("int64")):
        y = R.call_pure_packed("libtorch_sum", x, dim=axis, keepdim=True)
        return y
