# title: A condition that is an integer
# shows: a scalar is compared before it decides
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(n: R.Prim("int64")):
        if n:  #! TY026
            y = R.prim_value(1)
        else:
            y = R.prim_value(2)
        return y
