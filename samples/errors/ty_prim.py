# title: A tensor of rank 0 where a host scalar is wanted
# shows: both spellings are shown
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def fill(n: R.Prim("int64")):
        return R.full((2,), R.const(1.0, "float32"), "float32")

    @R.function
    def main():
        cls = Module
        y = cls.fill(R.const(2, "int64"))  #! TY003
        return y
