# title: More shared memory than a block may have
# shows: a block asks for 4 MB
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import tirx as T


@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(s_tir=True)
    def kernel(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        shared = T.alloc_shared((1048576,))
        with T.launch_thread("threadIdx.x", 64) as tx:  #! GP011
            shared[tx] = A[tx]
            B[tx] = shared[tx]
