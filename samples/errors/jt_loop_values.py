# title: A loop with more values than its variable holds
# shows: the values of a loop fit its variable
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(private=True, s_tir=True)
    def loop_values(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n,), "float32")
        Y = T.match_buffer(y, (n,), "float32")
        for i in range(n):
            for j in T.serial(T.int8(100), T.int8(100) + T.int8(100)):  #! JT022
                Y[i] = X[i]

    @R.function
    def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        cls = Module
        y = R.call_tir(cls.loop_values, (x,), out_ty=R.Tensor((n,), "float32"))
        return y
