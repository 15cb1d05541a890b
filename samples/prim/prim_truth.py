# title: Truth values
# shows: and, or and not of truth values on the host, without any tensor
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(a: R.Prim("bool"), b: R.Prim("bool")):
        both = a and b
        either = a or b
        neither = not either
        return (both, either, neither)
