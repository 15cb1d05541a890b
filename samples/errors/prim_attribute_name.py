# title: An attribute that the operator has not
# shows: the hint shows the schema
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        y = R.nn.softmax(x, axes=1)  #! PA006
        return y
