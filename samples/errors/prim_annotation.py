# title: A declaration of the other kind
# shows: both spellings are shown
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(n: R.Prim("int64"), x: R.Tensor((), "int64")):
        y: R.Tensor((), "int64") = n  #! TY020
        z: R.Prim("int64") = x  #! TY020
        return (y, z)
