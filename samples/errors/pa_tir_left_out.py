# title: Parts of prim funcs that have no meaning here
# shows: what is left out is named in a note; what is not read is an error that names it
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import tir as T


@I.ir_module
class Module:
    @T.prim_func
    def kernel(a: T.handle, B: T.Buffer((16,), "float32")):
        A = T.match_buffer(a, (4, 4), "float32", axis_separators=[1])  #! PA040
        T.preflattened_buffer(B, (4, 4), dtype="float32")  #! PA040
        for i, j in T.grid(4, 4):
            A[i, j] = B[i * 4 + j]

    @T.macro
    def increment(A, i):
        increment(A, i + 1)  #! PA004

    @T.prim_func
    def caller(A: T.Buffer((16,), "float32"), n: T.int32):
        increment(A, 0)
        A[0:n] = A[1]  #! PA009
        A[0] = A.nothing  #! PA004
        A[1] = T.no_such_function(A[0])  #! PA004
        with T.sblock("matched"):
            vi = T.axis.spatial(16, 3)
            V = T.match_buffer(A[vi], (1, n, n, n), stride=[1])  #! PA006
            A[vi] = 0.0
        for k in T.grid(4, 4, dtype="int64"):
            A[k] = 0.0  #! PA006
        for m in T.grid(4, kind="serial"):  #! PA004
            A[m] = 0.0
