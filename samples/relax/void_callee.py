# title: A function that returns nothing
# shows: a callee returns the empty tuple; its caller goes on
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function(pure=False, private=True)
    def report(x: R.Tensor((3,), "float32")) -> R.Tuple:
        a = R.print(x)
        return R.tuple()

    @R.function(pure=False)
    def main(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        cls = Module
        nothing = cls.report(x)
        cls.report(x)
        y = R.add(x, x)
        return y
