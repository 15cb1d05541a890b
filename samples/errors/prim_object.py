# title: A scalar is no object
# shows: PrimType is not a subtype of ObjectType
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def f(x: R.Object):
        return x

    @R.function
    def main(n: R.Prim("int64")):
        cls = Module
        y = cls.f(n)  #! TY022
        z: R.Object = n  #! TY020
        return (y, z)
