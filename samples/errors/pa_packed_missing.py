# title: An argument that is missing
# shows: `other` has no default value in the schema
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        y = R.call_pure_packed("libtorch_add", x, alpha=2)  #! PA054
        return y
