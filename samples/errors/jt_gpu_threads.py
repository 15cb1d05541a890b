# title: Threads that pass values to each other
# shows: threads run one after the other here; what they compute only together is refused
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(private=True, s_tir=True)
    def reversed_by_threads(X: T.Buffer((4,), "float32"), Y: T.Buffer((4,), "float32")):
        S = T.alloc_shared((4,))
        with T.launch_thread("threadIdx.x", 4) as tx:
            S[tx] = X[tx]  #! JT001
            Y[tx] = S[3 - tx]

    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        y = R.call_tir(cls.reversed_by_threads, (x,), out_ty=R.Tensor((4,), "float32"))
        return y
