# title: A float on the host
# shows: a literal and a parameter in one product
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(scale: R.Prim("float32")):
        half = scale * 0.5
        return half
