# title: An attribute that is missing
# shows: a parameter without a default must be given
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        y = R.expand_dims(x)  #! PA006
        return y
