# title: A function of floats on integers
# shows: the operator is not defined for the dtype
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "int32")):
        y = R.exp(x)  #! TY033
        z = R.logical_and(x, x)  #! TY033
        return (y, z)
