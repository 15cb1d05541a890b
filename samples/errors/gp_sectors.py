# title: A matrix turned around without a tile
# shows: neighbouring threads read elements that are 32 apart
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import tirx as T


@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(s_tir=True)
    def kernel(A: T.Buffer((1024,), "float32"), B: T.Buffer((1024,), "float32")):
        with T.launch_thread("threadIdx.x", 32) as tx:
            for i in range(32):
                B[i * 32 + tx] = A[tx * 32 + i]  #! GP015
