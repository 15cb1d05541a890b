# title: An attribute that is given twice
# shows: by position and by name
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        y = R.nn.softmax(x, 1, axis=1)  #! PA006
        return y
