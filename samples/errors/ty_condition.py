# title: A condition that is not a bool
# shows: a tensor of rank 2 is no condition
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        if x:  #! TY026
            y = R.exp(x)
        else:
            y = x
        return y
