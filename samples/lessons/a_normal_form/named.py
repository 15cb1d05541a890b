# title: The same expression, each call named
# shows: what Normalize and EliminateCommonSubexpr make of a nested expression, written by hand
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        product = R.multiply(x, y)
        minus = R.negative(x)
        power = R.exp(minus)
        z = R.add(product, power)
        w = R.subtract(z, product)
        return w
