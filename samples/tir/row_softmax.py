# title: Softmax of every row
# shows: blocks one after the other, with buffers that the prim func allocates
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(private=True, s_tir=True)
    def row_softmax(x: T.handle, y: T.handle):
        n = T.int64()
        m = T.int64()
        X = T.match_buffer(x, (n, m), "float32")
        Y = T.match_buffer(y, (n, m), "float32")
        largest = T.sblock_alloc_buffer((n,), "float32")
        total = T.sblock_alloc_buffer((n,), "float32")
        for i0, j0 in T.grid(n, m):
            with T.sblock("largest"):
                i, j = T.axis.remap("SR", [i0, j0])
                with T.init():
                    largest[i] = X[i, 0]
                largest[i] = T.max(largest[i], X[i, j])
        for i0, j0 in T.grid(n, m):
            with T.sblock("total"):
                i, j = T.axis.remap("SR", [i0, j0])
                with T.init():
                    total[i] = T.float32(0)
                total[i] = total[i] + T.exp(X[i, j] - largest[i])
        for i0, j0 in T.grid(n, m):
            with T.sblock("quotient"):
                i, j = T.axis.remap("SS", [i0, j0])
                Y[i, j] = T.exp(X[i, j] - largest[i]) / total[i]

    @R.function
    def main(x: R.Tensor(("n", "m"), "float32")) -> R.Tensor(("n", "m"), "float32"):
        n = T.int64()
        m = T.int64()
        cls = Module
        y = R.call_tir(cls.row_softmax, (x,), out_ty=R.Tensor((n, m), "float32"))
        return y
