# title: Powers of two by recursion
# shows: one call of itself for each step, so that the stack is as deep as the number is large
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def power(n: R.Tensor((), "int64")) -> R.Tensor((), "int64"):
        cls = Module
        is_small = R.less(n, R.const(1, "int64"))
        if is_small:
            r = R.const(1, "int64")
        else:
            one = R.subtract(n, R.const(1, "int64"))
            a = cls.power(one)
            r = R.add(a, a)
        return r

    @R.function
    def main() -> R.Tensor((), "int64"):
        cls = Module
        r = cls.power(R.const(5, "int64"))
        return r
