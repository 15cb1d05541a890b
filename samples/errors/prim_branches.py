# title: Branches that give different kinds
# shows: one gives a scalar, the other a tensor of rank 0
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(c: R.Prim("bool"), n: R.Prim("int64"), x: R.Tensor((), "int64")):
        if c:  #! TY035
            y = n
        else:
            y = x
        return y
