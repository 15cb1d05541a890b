# title: An assertion that a thread breaks
# shows: the first thread whose element is too large is named
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import tirx as T


@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(s_tir=True)
    def kernel(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        with T.launch_thread("threadIdx.x", 64) as tx:
            assert A[tx] < T.float32(0.5), "elements are small"  #! GP009
            B[tx] = A[tx]
