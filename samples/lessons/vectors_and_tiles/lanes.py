# title: A sum in one lane and in four
# shows: a sum whose order is changed rounds otherwise
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(private=True, s_tir=True)
    def in_order(A: T.Buffer((8,), "float32"), S: T.Buffer((1,), "float32")):
        S[0] = T.float32(0)
        for k in range(8):
            S[0] = S[0] + A[k]

    @T.prim_func(private=True, s_tir=True)
    def in_lanes(A: T.Buffer((8,), "float32"), S: T.Buffer((1,), "float32")):
        L = T.alloc_buffer((4,), "float32")
        for l in T.vectorized(4):
            L[l] = T.float32(0)
        for k in range(2):
            for l in T.vectorized(4):
                L[l] = L[l] + A[k * 4 + l]
        S[0] = T.float32(0)
        for l in range(4):
            S[0] = S[0] + L[l]

    @R.function
    def main() -> R.Tuple(R.Tensor((1,), "float32"), R.Tensor((1,), "float32")):
        cls = Module
        x = R.const([100000000.0, 1.0, 1.0, 1.0, -100000000.0, 1.0, 1.0, 1.0], "float32")
        a = R.call_tir(cls.in_order, (x,), out_ty=R.Tensor((1,), "float32"))
        b = R.call_tir(cls.in_lanes, (x,), out_ty=R.Tensor((1,), "float32"))
        y = (a, b)
        return y
