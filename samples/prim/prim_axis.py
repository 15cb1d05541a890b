# title: An axis that only the run knows
# shows: softmax keeps its shape whatever the axis is, so its type is known; the axis is checked when it runs
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), axis: R.Prim("int64")) -> R.Tensor((2, 3), "float32"):
        y = R.nn.softmax(x, axis=axis)
        return y
