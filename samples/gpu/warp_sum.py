# title: A sum by shuffles
# shows: the lanes of a warp add up their numbers without memory; the sums of two warps meet in shared memory
# source: RelaxScope
from tvm.script import tirx as T


@T.prim_func(s_tir=True)
def sums(A: T.Buffer((4, 64), "float32"), B: T.Buffer((4,), "float32")):
    bx = T.launch_thread("blockIdx.x", 4)
    tx = T.launch_thread("threadIdx.x", 64)
    of_warp = T.alloc_shared((2,), "float32")
    own = T.alloc_local((1,), "float32")
    own[0] = A[bx, tx]
    for k in range(5):
        own[0] = own[0] + T.tvm_warp_shuffle_down(T.uint32(4294967295), own[0], T.shift_right(16, k), 32, 32)
    if tx % 32 == 0:
        of_warp[tx // 32] = own[0]
    T.tvm_storage_sync("shared")
    if tx == 0:
        B[bx] = of_warp[0] + of_warp[1]
