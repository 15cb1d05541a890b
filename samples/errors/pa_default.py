# title: A parameter with a default
# shows: every call gives all arguments, so TVM drops the default
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32") = None):  #! PA033
        return R.exp(x)
