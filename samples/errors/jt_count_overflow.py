# title: An extent that does not fit its dtype
# shows: counts are checked, and do not wrap around to 0
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(private=True, s_tir=True)
    def count_overflow(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n,), "float32")
        Y = T.match_buffer(y, (n,), "float32")
        for i in range(n):
            for j in range(T.Cast("int32", n) * 65536 * 65536):  #! JT021
                Y[i] = X[i]

    @R.function
    def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        cls = Module
        y = R.call_tir(cls.count_overflow, (x,), out_ty=R.Tensor((n,), "float32"))
        return y
