# title: Each given for the other
# shows: a tensor of rank 0 for a scalar, and a scalar for a tensor
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def f(n: R.Prim("float32"), x: R.Tensor((), "float32")):
        return (n, x)

    @R.function
    def main(n: R.Prim("float32"), x: R.Tensor((), "float32")):
        cls = Module
        y = cls.f(x, x)  #! TY003
        z = cls.f(n, n)  #! TY003
        return (y, z)
