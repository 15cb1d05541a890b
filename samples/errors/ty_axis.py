# title: An axis outside the rank
# shows: axes are checked where the rank is known
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        y = R.sum(x, axis=[2])  #! TY014
        z = R.nn.softmax(x, axis=-3)  #! TY014
        return (y, z)
