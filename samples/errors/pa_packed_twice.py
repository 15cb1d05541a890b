# title: An argument that is given twice
# shows: by position and by name
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        y = R.call_pure_packed("libtorch_add", x, x, 3, alpha=2)  #! PA052
        return y
