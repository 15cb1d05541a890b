# title: A local function, called by name
# shows: without a function as a value there is nothing that the code generator of 2022 lacked a case for
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def one() -> R.Tensor((), "int32"):
        x = R.const(1, "int32")
        return x

    @R.function(pure=False)
    def main():
        cls = Module
        value = cls.one()
        y = R.print(value, format="{}")
        return y
