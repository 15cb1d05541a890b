# title: A scalar from a dimension
# shows: n * 2 and n < 4 come from the shape of x when the program runs
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        double = R.prim_value(n * 2)
        is_short = R.prim_value(n < 4)
        return (double, is_short)
