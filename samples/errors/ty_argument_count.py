# title: Too few arguments
# shows: the type of the callee is shown
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def add(a: R.Tensor((3,), "float32"), b: R.Tensor((3,), "float32")):
        return R.add(a, b)

    @R.function
    def main(x: R.Tensor((3,), "float32")):
        cls = Module
        y = cls.add(x)  #! TY024
        return y
