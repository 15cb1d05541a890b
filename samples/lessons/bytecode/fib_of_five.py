# title: The fifth Fibonacci number
# shows: fifteen entries of one function, each with registers of its own
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def fib(n: R.Tensor((), "int64")) -> R.Tensor((), "int64"):
        cls = Module
        is_small = R.less(n, R.const(2, "int64"))
        if is_small:
            r = n
        else:
            one = R.subtract(n, R.const(1, "int64"))
            a = cls.fib(one)
            two = R.subtract(n, R.const(2, "int64"))
            b = cls.fib(two)
            r = R.add(a, b)
        return r

    @R.function
    def main() -> R.Tensor((), "int64"):
        cls = Module
        r = cls.fib(R.const(5, "int64"))
        return r
