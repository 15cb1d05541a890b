# title: A closure is printed, and called and printed
# shows: `R.print(closure)` shows `<closure>` and nothing else, `R.print(closure())` the value
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((2, 3), "float32")):
        @R.function
        def closure() -> R.Tensor((2, 3), "float32"):
            return x

        a = R.print(closure)
        value = closure()
        b = R.print(value)
        return value
