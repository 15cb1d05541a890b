# title: A shift that is too wide
# shows: shift amounts are checked
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(private=True, s_tir=True)
    def shift_amount(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n,), "int32")
        Y = T.match_buffer(y, (n,), "int32")
        for i in range(n):
            Y[i] = T.shift_left(X[i], 40 + X[i] - X[i])  #! JT012

    @R.function
    def main(x: R.Tensor(("n",), "int32")) -> R.Tensor(("n",), "int32"):
        n = T.int64()
        cls = Module
        y = R.call_tir(cls.shift_amount, (x,), out_ty=R.Tensor((n,), "int32"))
        return y
