# title: A loop over GPU threads
# shows: kernels run on the host; what they do not know is named
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(private=True, s_tir=True)
    def gpu_threads(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n,), "float32")
        Y = T.match_buffer(y, (n,), "float32")
        for i in T.thread_binding(n, thread="threadIdx.x"):  #! JT001
            Y[i] = X[i]

    @R.function
    def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        cls = Module
        y = R.call_tir(cls.gpu_threads, (x,), out_ty=R.Tensor((n,), "float32"))
        return y
