# title: Tensors that do not join
# shows: all sizes but one are equal
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        y = R.concat((x, R.zeros((3, 3), "float32")), axis=1)  #! TY016
        return y
