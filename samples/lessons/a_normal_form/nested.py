# title: A nested expression
# shows: Normalize gives each call of a nested expression a name
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        z = R.add(R.multiply(x, y), R.exp(R.negative(x)))
        return R.subtract(z, R.multiply(x, y))
