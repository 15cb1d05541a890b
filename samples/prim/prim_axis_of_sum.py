# title: An axis that decides the shape
# shows: the sum has one dimension of unknown size; match_cast names it
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), axis: R.Prim("int64")):
        n = T.int64()
        y = R.sum(x, axis=[axis])
        z = R.match_cast(y, R.Tensor((n,), "float32"))
        return (z, R.prim_value(n))
