# title: A tensor that is called
# shows: only functions can be called
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        y = x(x)  #! TY023
        return y
