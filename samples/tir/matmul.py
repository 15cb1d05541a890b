# title: A matrix product
# shows: a reduction block whose init runs when the reduction starts; every access is proven in range
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(private=True, s_tir=True)
    def matmul(a: T.handle, b: T.handle, c: T.handle):
        m = T.int64()
        n = T.int64()
        k = T.int64()
        A = T.match_buffer(a, (m, k), "float32")
        B = T.match_buffer(b, (k, n), "float32")
        C = T.match_buffer(c, (m, n), "float32")
        for i0, j0, r0 in T.grid(m, n, k):
            with T.sblock("matmul"):
                i, j, r = T.axis.remap("SSR", [i0, j0, r0])
                with T.init():
                    C[i, j] = T.float32(0)
                C[i, j] = C[i, j] + A[i, r] * B[r, j]

    @R.function
    def main(
        x: R.Tensor(("m", "k"), "float32"), w: R.Tensor(("k", "n"), "float32")
    ) -> R.Tensor(("m", "n"), "float32"):
        m = T.int64()
        n = T.int64()
        k = T.int64()
        cls = Module
        y = R.call_tir(cls.matmul, (x, w), out_ty=R.Tensor((m, n), "float32"))
        return y
