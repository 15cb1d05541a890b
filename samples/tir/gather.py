# title: Rows picked by an index
# shows: an index that is data is checked at every access
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(private=True, s_tir=True)
    def gather(table: T.handle, index: T.handle, out: T.handle):
        n = T.int64()
        m = T.int64()
        k = T.int64()
        Table = T.match_buffer(table, (m, k), "float32")
        Index = T.match_buffer(index, (n,), "int64")
        Out = T.match_buffer(out, (n, k), "float32")
        for i0, j0 in T.grid(n, k):
            with T.sblock("gather"):
                i, j = T.axis.remap("SS", [i0, j0])
                Out[i, j] = Table[Index[i], j]

    @R.function
    def main(
        table: R.Tensor(("m", "k"), "float32"), index: R.Tensor(("n",), "int64")
    ) -> R.Tensor(("n", "k"), "float32"):
        n = T.int64()
        m = T.int64()
        k = T.int64()
        cls = Module
        y = R.call_tir(cls.gather, (table, index), out_ty=R.Tensor((n, k), "float32"))
        return y
