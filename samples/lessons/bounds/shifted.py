# title: Differences of neighbours, one too far
# shows: the last iteration reads an element behind the end
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(private=True, s_tir=True)
    def difference(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n,), "float32")
        Y = T.match_buffer(y, (n,), "float32")
        for i in range(n):
            with T.sblock("difference"):
                v_i = T.axis.spatial(n, i)
                Y[v_i] = X[v_i + 1] - X[v_i]

    @R.function
    def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        cls = Module
        y = R.call_tir(cls.difference, (x,), out_ty=R.Tensor((n,), "float32"))
        return y
