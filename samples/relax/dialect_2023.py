# title: A module in the spelling of 2023
# shows: dimensions in quotes, out_sinfo, T.block, match_cast
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tir as T


@I.ir_module
class Module:
    @T.prim_func(private=True)
    def double(a: T.handle, b: T.handle):
        n, k = T.int64(), T.int64()
        A = T.match_buffer(a, (n, k))
        B = T.match_buffer(b, (n, k))
        for i, j in T.grid(n, k):
            with T.block("double"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)

    @R.function
    def main(x: R.Tensor(("n", "m"), "float32"), w: R.Tensor(dtype="float32", ndim=2)) -> R.Object:
        n = T.int64()
        m = T.int64()
        k = T.int64()
        cls = Module
        with R.dataflow():
            lv0 = R.match_cast(w, R.Tensor((m, k), "float32"))
            lv1: R.Tensor((n, k), "float32") = R.matmul(x, lv0)
            gv0 = R.call_tir(cls.double, (lv1,), out_sinfo=R.Tensor((n, k), "float32"))
            R.output(gv0)
        return R.reshape(gv0, R.shape([n * k]))
