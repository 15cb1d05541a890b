# title: A name that the schema has not
# shows: the nearest name and the schema are shown
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        y = R.call_pure_packed("libtorch_add", x, x, alhpa=2)  #! PA051
        return y
