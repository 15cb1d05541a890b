# title: Variables of prim funcs outside of their place
# shows: a variable is known inside of what defines it; a block uses its axes, not the loops around it
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import tirx as T


@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(s_tir=True)
    def kernel(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
        n = T.int32()
        for i in range(16):
            with T.sblock("copy"):
                v = T.axis.spatial(16, i)
                B[v] = A[i]  #! WF023
        B[n] = T.float32(0)  #! WF022

    @T.prim_func(s_tir=True)
    def twice(A: T.Buffer((16,), "float32"), p: T.handle):
        x: T.let[T.int32] = 1
        x: T.let[T.int32] = 2  #! PA022
        with T.sblock("a"):
            T.reads(A[0])
            T.reads(A[1])  #! PA022
            A[0] = A[1] // A[2]  #! PA009
            A[1] = p  #! PA009
