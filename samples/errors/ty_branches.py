# title: Branches that have nothing in common
# shows: a host scalar is not an object
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(c: R.Tensor((), "bool")):
        if c:  #! TY035
            y = R.prim_value(1)
        else:
            y = R.const(1, "int64")
        return y
