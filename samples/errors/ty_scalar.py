# title: A host scalar where a tensor is wanted
# shows: a rank-0 tensor and a scalar are two values
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        y = R.add(x, R.prim_value(1))  #! TY003
        return y
