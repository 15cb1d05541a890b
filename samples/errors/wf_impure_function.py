# title: A side effect in a pure function
# shows: callers rely on purity
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        R.print(x)  #! WF005
        return x
