# title: A column in one bank
# shows: the lanes of a warp read a column of a tile whose rows have 32 words
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import tirx as T


@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(s_tir=True)
    def kernel(A: T.Buffer((1024,), "float32"), B: T.Buffer((1024,), "float32")):
        shared = T.alloc_shared((32, 32))
        with T.launch_thread("threadIdx.x", 32) as tx:
            for i in range(32):
                shared[i, tx] = A[i * 32 + tx]
            T.tvm_storage_sync("shared")
            for i in range(32):
                B[i * 32 + tx] = shared[tx, i]  #! GP014
