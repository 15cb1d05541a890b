# title: Three ways to hand over a number
# shows: a tensor of rank 0, a scalar on the host, and a number that is part of the program
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), t: R.Tensor((), "float32"), n: R.Prim("int64")):
        a = R.multiply(x, t)
        b = R.multiply(x, R.const(2.0, "float32"))
        c = R.zeros((n, n + 1), "float32")
        return (a, b, c)
