# title: One warp without a barrier
# shows: threads of one warp exchange elements, and nothing orders them
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import tirx as T


@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(s_tir=True)
    def kernel(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32")):
        shared = T.alloc_shared((32,))
        with T.launch_thread("threadIdx.x", 32) as tx:
            shared[tx] = A[tx]
            B[tx] = shared[31 - tx]  #! GP002
