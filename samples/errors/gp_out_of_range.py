# title: More threads than elements
# shows: the last 24 threads read and write behind the end
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import tirx as T


@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(s_tir=True)
    def kernel(A: T.Buffer((40,), "float32"), B: T.Buffer((40,), "float32")):
        with T.launch_thread("threadIdx.x", 64) as tx:
            B[tx] = A[tx]  #! GP007
