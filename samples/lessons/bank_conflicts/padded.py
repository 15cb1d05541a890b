# title: A transpose through a padded tile
# shows: rows are written into a tile, and its columns are read
# source: RelaxScope
from tvm.script import tirx as T


@T.prim_func(s_tir=True)
def transpose(A: T.Buffer((32, 32), "float32"), B: T.Buffer((32, 32), "float32")):
    ty = T.launch_thread("threadIdx.y", 8)
    tx = T.launch_thread("threadIdx.x", 32)
    tile = T.alloc_shared((32, 33), "float32")
    for r in range(4):
        tile[r * 8 + ty, tx] = A[r * 8 + ty, tx]
    T.tvm_storage_sync("shared")
    for r in range(4):
        B[r * 8 + ty, tx] = tile[tx, r * 8 + ty]
