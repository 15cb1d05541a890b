# title: A captured scalar
# shows: the closure keeps the value that n had: PrimValues are immutable
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module
class Module:
    @R.function
    def main(n: R.Prim("int64"), rate: R.Prim("float32")):
        @R.function
        def scaled(k: R.Prim("int64")) -> R.Prim("float32"):
            return rate * T.Cast("float32", n + k)

        a = scaled(R.prim_value(1))
        b = scaled(R.prim_value(2))
        return (a, b)
