# title: Scalars in a dataflow block
# shows: PrimValues are pure values, so they may stand in a dataflow block
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n",), "float32"), k: R.Prim("int64")):
        n = T.int64()
        with R.dataflow():
            total = n + k
            y = R.concat((x, R.zeros((k,), "float32")), axis=0)
            R.output(total, y)
        return (y, total)
