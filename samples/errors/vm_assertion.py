# title: An assertion that does not hold
# shows: `R.assert_op` stops the program with its message
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function(pure=False)
    def main(c: R.Tensor((), "bool"), x: R.Tensor((2,), "float32")):
        a = R.assert_op(c, x, format="x is {}")  #! VM013
        return x
