# title: An argument that must be written out
# shows: the type of the result depends on it
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        y = R.take(x, R.const([0]), axis=0, mode="mirror")  #! TY018
        return y
