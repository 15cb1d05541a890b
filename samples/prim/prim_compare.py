# title: Comparisons
# shows: each comparison of two integers gives a bool on the host
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(a: R.Prim("int64"), b: R.Prim("int64")):
        less = a < b
        equal = a == b
        different = a != 3
        return (less, equal, different)
