# title: A matrix product to schedule
# shows: a reduction to schedule: tiles, a parallel loop, vectors; docs/schedules.md has the pipeline
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(private=True, s_tir=True)
    def product(
        A: T.Buffer((32, 48), "float32"), B: T.Buffer((48, 24), "float32"), C: T.Buffer((32, 24), "float32")
    ):
        for i, j, k in T.grid(32, 24, 48):
            with T.sblock("product"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]

    @R.function
    def main(x: R.Tensor((32, 48), "float32"), w: R.Tensor((48, 24), "float32")) -> R.Tensor((32, 24), "float32"):
        cls = Module
        y = R.call_tir(cls.product, (x, w), out_ty=R.Tensor((32, 24), "float32"))
        return y
