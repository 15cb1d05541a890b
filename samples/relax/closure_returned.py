# title: A function that returns a closure
# shows: `adder(x)` returns a closure over `x`; two of them are alive at once and do not mix
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def adder(
        x: R.Tensor((3,), "float32"),
    ) -> R.Callable((R.Tensor((3,), "float32"),), R.Tensor((3,), "float32")):
        @R.function
        def add_x(y: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
            z = R.add(x, y)
            return z

        return add_x

    @R.function
    def main(x: R.Tensor((3,), "float32"), y: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        cls = Module
        add_x = cls.adder(x)
        add_y = cls.adder(y)
        a = add_x(y)
        b = add_y(a)
        return b
