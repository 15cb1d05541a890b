# title: A module in the spelling of 2026
# shows: dimensions declared above the module, out_ty, T.sblock, a scalar parameter that is a dimension
# source: RelaxScope
from typing import TypeVar

from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

k = TypeVar("k")
m = TypeVar("m")


@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(private=True, s_tir=True)
    def double(a: T.handle, b: T.handle):
        p, q = T.int64(), T.int64()
        A = T.match_buffer(a, (p, q))
        B = T.match_buffer(b, (p, q))
        for i, j in T.grid(p, q):
            with T.sblock("double"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)

    @R.function(pure=False)
    def main(n: T.int64, w: R.Tensor((m, k), dtype="float32")) -> R.Any:
        cls = Module
        with R.dataflow():
            lv0: R.Tensor((n, m), dtype="float32") = R.ones(R.shape([n, m]), dtype="float32")
            lv1: R.Tensor((n, k), dtype="float32") = R.matmul(lv0, w)
            gv0 = R.call_tir(cls.double, (lv1,), out_ty=R.Tensor((n, k), dtype="float32"))
            R.output(gv0)
        R.print(gv0, format="{}")
        return R.reshape(gv0, R.shape([n * k]))
