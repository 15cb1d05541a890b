# title: A matrix product in tiles
# shows: 64 threads a block, tiles of both matrices in shared memory, a barrier in front of each use and behind it
# source: RelaxScope
from tvm.script import tirx as T


@T.prim_func(s_tir=True)
def matmul(A: T.Buffer((16, 32), "float32"), B: T.Buffer((32, 16), "float32"), C: T.Buffer((16, 16), "float32")):
    by = T.launch_thread("blockIdx.y", 2)
    bx = T.launch_thread("blockIdx.x", 2)
    ty = T.launch_thread("threadIdx.y", 8)
    tx = T.launch_thread("threadIdx.x", 8)
    rows = T.alloc_shared((8, 8), "float32")
    columns = T.alloc_shared((8, 8), "float32")
    total = T.alloc_local((1,), "float32")
    total[0] = T.float32(0)
    for k in range(4):
        rows[ty, tx] = A[by * 8 + ty, k * 8 + tx]
        columns[ty, tx] = B[k * 8 + ty, bx * 8 + tx]
        T.tvm_storage_sync("shared")
        for r in range(8):
            total[0] = total[0] + rows[ty, r] * columns[r, tx]
        T.tvm_storage_sync("shared")
    C[by * 8 + ty, bx * 8 + tx] = total[0]
