# title: Integers of 32 bits
# shows: int32 and int64 are two types; T.Cast converts
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module
class Module:
    @R.function
    def main(a: R.Prim("int32"), b: R.Prim("int64")):
        c = a * 2
        d = R.prim_value(T.Cast("int64", a) + b)
        return (c, d)
