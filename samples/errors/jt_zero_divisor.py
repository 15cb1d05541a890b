# title: A division by zero
# shows: integer division is checked where the divisor may be zero
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(private=True, s_tir=True)
    def zero_divisor(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n,), "int32")
        Y = T.match_buffer(y, (n,), "int32")
        for i in range(n):
            Y[i] = X[i] // (X[i] - X[i])  #! JT011

    @R.function
    def main(x: R.Tensor(("n",), "int32")) -> R.Tensor(("n",), "int32"):
        n = T.int64()
        cls = Module
        y = R.call_tir(cls.zero_divisor, (x,), out_ty=R.Tensor((n,), "int32"))
        return y
