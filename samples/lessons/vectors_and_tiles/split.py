# title: A matrix product with a vector
# shows: the loop over columns is split, and its inner part is a vector
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(private=True, s_tir=True)
    def matmul(
        A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32"), C: T.Buffer((16, 16), "float32")
    ):
        for i, j0, k in T.grid(16, 4, 16):
            for j1 in T.vectorized(4):
                with T.sblock("matmul"):
                    vi = T.axis.spatial(16, i)
                    vj = T.axis.spatial(16, j0 * 4 + j1)
                    vk = T.axis.reduce(16, k)
                    with T.init():
                        C[vi, vj] = T.float32(0)
                    C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]

    @R.function
    def main(x: R.Tensor((16, 16), "float32"), w: R.Tensor((16, 16), "float32")) -> R.Tensor((16, 16), "float32"):
        cls = Module
        y = R.call_tir(cls.matmul, (x, w), out_ty=R.Tensor((16, 16), "float32"))
        return y
