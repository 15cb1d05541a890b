# title: A buffer beyond all addresses
# shows: the size of a buffer is a number of 64 bits
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(private=True, s_tir=True)
    def beyond_addresses(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n,), "float32")
        Y = T.match_buffer(y, (n,), "float32")
        with T.sblock("root"):
            local = T.sblock_alloc_buffer((n, 1 << 30, 1 << 30), "float32")  #! JT024
            for i in range(n):
                local[i, 0, 0] = X[i]
                Y[i] = local[i, 0, 0]

    @R.function
    def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        cls = Module
        y = R.call_tir(cls.beyond_addresses, (x,), out_ty=R.Tensor((n,), "float32"))
        return y
