# title: Float arithmetic
# shows: float64 and functions of T, computed by a kernel of the host
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module
class Module:
    @R.function
    def main(a: R.Prim("float64"), b: R.Prim("float64")):
        c = R.prim_value(T.sqrt(a * a + b * b))
        d = a / b
        return (c, d)
