# title: An axis that cannot be removed
# shows: squeeze removes axes of size 1
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        y = R.squeeze(x, axis=[0])  #! TY034
        return y
