# title: An object given for a scalar
# shows: only the run can tell; match_cast says so
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def f(n: R.Prim("int64")):
        return n

    @R.function
    def main(x: R.Object):
        cls = Module
        y = cls.f(x)  #! TY042
        z: R.Prim("int64") = x  #! TY042
        return (y, z)
