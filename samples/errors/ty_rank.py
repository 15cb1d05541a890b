# title: A product of scalars
# shows: the message shows the rank
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        y = R.matmul(x, R.const(1.0, "float32"))  #! TY013
        return y
