# title: One barrier
# shows: numbers are turned around in shared memory, doubled, and kept in shared memory once more
# source: RelaxScope
from tvm.script import tirx as T


@T.prim_func(s_tir=True)
def turned(A: T.Buffer((128,), "float32"), B: T.Buffer((128,), "float32")):
    bx = T.launch_thread("blockIdx.x", 2)
    tx = T.launch_thread("threadIdx.x", 64)
    tile = T.alloc_shared((64,), "float32")
    twice = T.alloc_shared((64,), "float32")
    tile[tx] = A[bx * 64 + tx]
    T.tvm_storage_sync("shared")
    twice[tx] = tile[63 - tx] * T.float32(2)
    B[bx * 64 + tx] = twice[tx]
