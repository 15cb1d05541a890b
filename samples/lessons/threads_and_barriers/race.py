# title: A tile that is turned around
# shows: threads pass numbers to each other through shared memory, four times, with one barrier in each round
# source: RelaxScope
from tvm.script import tirx as T


@T.prim_func(s_tir=True)
def turned_sums(A: T.Buffer((256,), "float32"), B: T.Buffer((64,), "float32")):
    tx = T.launch_thread("threadIdx.x", 64)
    tile = T.alloc_shared((64,), "float32")
    total = T.alloc_local((1,), "float32")
    total[0] = T.float32(0)
    for k in range(4):
        tile[tx] = A[k * 64 + tx]
        T.tvm_storage_sync("shared")
        total[0] = total[0] + tile[63 - tx]
    B[tx] = total[0]
