# title: An integer on the host
# shows: a PrimValue is a parameter and a result; it has no shape and no device
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(n: R.Prim("int64")) -> R.Prim("int64"):
        return n
