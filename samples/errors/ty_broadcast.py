# title: Shapes that do not broadcast
# shows: sizes are compared from the last axis
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        y = R.add(x, R.zeros((2,), "float32"))  #! TY010
        return y
