# title: Threads that pass values to each other
# shows: threads run one after the other here; what they compute only together is refused
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(private=True, s_tir=True)
    def reversed_by_threads(X: T.Buffer((8,), "float32"), Y: T.Buffer((8,), "float32")):
        S = T.alloc_shared((8,))
        with T.launch_thread("threadIdx.x", 8) as tx:
            S[tx] = X[tx]
            Y[tx] = S[7 - tx]  #! JT001

    @R.function
    def main(x: R.Tensor((8,), "float32")) -> R.Tensor((8,), "float32"):
        cls = Module
        y = R.call_tir(cls.reversed_by_threads, (x,), out_ty=R.Tensor((8,), "float32"))
        return y
