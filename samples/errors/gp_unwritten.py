# title: Shared memory that nothing has written
# shows: half of the tile is read as the block before left it
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import tirx as T


@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(s_tir=True)
    def kernel(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        shared = T.alloc_shared((64,))
        with T.launch_thread("threadIdx.x", 64) as tx:
            if tx < 32:
                shared[tx] = A[tx]
            T.tvm_storage_sync("shared")
            B[tx] = shared[63 - tx]  #! GP005, GP006
