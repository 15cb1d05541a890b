# title: A branch gives a scalar
# shows: both branches give a PrimValue, which is computed with afterwards
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(n: R.Prim("int64")):
        if n > 10:
            step = R.prim_value(5)
        else:
            step = n + 1
        total = step * 2
        return total
