# title: A declared type that contradicts the value
# shows: both types are printed
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        y: R.Tensor((3, 2), "float32") = R.exp(x)  #! TY020
        return y
