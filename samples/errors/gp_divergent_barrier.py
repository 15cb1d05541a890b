# title: A barrier that half of the threads reach
# shows: the threads whose number is 32 or more never come to it
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
            if tx < 32:
                T.tvm_storage_sync("shared")  #! GP004
            B[tx] = shared[63 - tx]
