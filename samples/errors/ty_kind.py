# title: A shape where a tensor is wanted
# shows: the kinds of values are different
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        s = R.shape([2, 3])
        y = R.exp(s)  #! TY001
        return y
