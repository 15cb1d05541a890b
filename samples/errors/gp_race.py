# title: Threads that read what others write
# shows: no barrier stands between the store and the load of another thread
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import tirx as T


@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(s_tir=True)
    def kernel(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        shared = T.alloc_shared((64,))
        with T.launch_thread("threadIdx.x", 64) as tx:
            shared[tx] = A[tx]
            B[tx] = shared[63 - tx]  #! GP001
