# title: A while loop that never ends
# shows: loops have a limit, and can be cancelled
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(private=True, s_tir=True)
    def endless_loop(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n,), "float32")
        Y = T.match_buffer(y, (n,), "float32")
        Y[0] = T.float32(1)
        while Y[0] > T.float32(0):  #! JT015
            Y[0] = Y[0] + T.float32(1)

    @R.function
    def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        cls = Module
        y = R.call_tir(cls.endless_loop, (x,), out_ty=R.Tensor((n,), "float32"))
        return y
