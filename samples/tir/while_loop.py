# title: A while loop
# shows: the integer square root by counting; a while loop can be stopped at every iteration
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(private=True, s_tir=True)
    def square_root(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n,), "int32")
        Y = T.match_buffer(y, (n,), "int32")
        for i in range(n):
            Y[i] = 0
            while (Y[i] + 1) * (Y[i] + 1) <= X[i]:
                Y[i] = Y[i] + 1

    @R.function
    def main(x: R.Tensor(("n",), "int32")) -> R.Tensor(("n",), "int32"):
        n = T.int64()
        cls = Module
        y = R.call_tir(cls.square_root, (x,), out_ty=R.Tensor((n,), "int32"))
        return y
