# title: A choice without a branch
# shows: T.if_then_else is one scalar expression, no If
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module
class Module:
    @R.function
    def main(a: R.Prim("int64")):
        size = R.prim_value(T.if_then_else(a < 0, -a, a))
        return size
