# title: Rows that do not fit
# shows: a sum whose sizes agree only if n and m do
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module
class Module:
    @R.function
    def main(
        x: R.Tensor(("n", 4), "float32"),
        y: R.Tensor(("m", 4), "float32"),
    ):
        n = T.int64()
        m = T.int64()
        rows = R.match_cast(y, R.Tensor((n, 4), "float32"))
        total = R.add(x, rows)
        return total
