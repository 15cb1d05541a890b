# title: A function that returns twice
# shows: what stands behind a `return` is taken as if it stood before; a second `return` is an error
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        return x
        y = R.exp(x)  #! PA011
        return y  #! PA011
