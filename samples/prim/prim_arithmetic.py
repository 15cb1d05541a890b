# title: Integer arithmetic
# shows: sums, products, rounding down and remainders on the host
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module
class Module:
    @R.function
    def main(a: R.Prim("int64"), b: R.Prim("int64")):
        c = a * b + 1
        d = c // 2 - b
        e = R.prim_value(T.max(d, a) % 7)
        return (c, d, e)
