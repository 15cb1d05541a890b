# title: Recursion on a scalar
# shows: one frame per call, and no tensor in any register
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def factorial(n: R.Prim("int64")) -> R.Prim("int64"):
        cls = Module
        if n <= 1:
            r = R.prim_value(1)
        else:
            rest = cls.factorial(n - 1)
            r = n * rest
        return r

    @R.function
    def main(n: R.Prim("int64")) -> R.Prim("int64"):
        cls = Module
        r = cls.factorial(n)
        return r
