# title: Scalars and tensors in one tuple
# shows: a tuple holds both kinds; compare their badges in the registers
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(n: R.Prim("int64"), x: R.Tensor((), "int64")):
        pair = (n, x)
        nested = (pair, R.prim_value(2.5))
        inner = nested[0]
        return (inner[0], inner[1], nested[1])
