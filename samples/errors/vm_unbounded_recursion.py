# title: Recursion without an end
# shows: frames live on the machine's own stack: a limit and a diagnostic, no crash
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def down(x: R.Tensor((), "int64")) -> R.Tensor((), "int64"):
        cls = Module
        y = R.subtract(x, R.const(1, "int64"))
        r = cls.up(y)  #! VM003
        return r

    @R.function
    def up(x: R.Tensor((), "int64")) -> R.Tensor((), "int64"):
        cls = Module
        y = R.add(x, R.const(1, "int64"))
        r = cls.down(y)
        return r

    @R.function
    def main(x: R.Tensor((), "int64")) -> R.Tensor((), "int64"):
        cls = Module
        r = cls.down(x)
        return r
