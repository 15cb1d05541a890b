# title: Every thread writes the same
# shows: one cell is written 32 times, each time with one value
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import tirx as T


@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(s_tir=True)
    def kernel(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32")):
        shared = T.alloc_shared((1,))
        with T.launch_thread("threadIdx.x", 32) as tx:
            shared[0] = A[0]  #! GP003
            T.tvm_storage_sync("shared")
            B[tx] = shared[0]
