# title: A float from a dimension
# shows: 1 / n is a float PrimValue; full makes it a tensor
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        part = R.prim_value(T.float32(1) / T.Cast("float32", n))
        weight = R.full((), part, "float32")
        mean = R.multiply(R.sum(x), weight)
        return (mean, part)
