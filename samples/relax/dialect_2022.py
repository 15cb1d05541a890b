# title: A module in the spelling of 2022
# shows: bare types, free dimensions, match_shape, a prim func inside of a function, purity that is not declared
# source: RelaxScope
import tvm
from tvm import relax
from tvm.script import relax as R, tir as T


@tvm.script.ir_module
class Module:
    @R.function
    def main(x: Tensor((n, m), "float32"), w: Tensor(_, "float32")) -> Object:
        @T.prim_func
        def double(a: T.handle, b: T.handle) -> None:
            p = T.var("int64")
            q = T.var("int64")
            A = T.match_buffer(a, (p, q))
            B = T.match_buffer(b, (p, q))
            for i, j in T.grid(p, q):
                with T.block("double"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    B[vi, vj] = A[vi, vj] * T.float32(2)

        with relax.dataflow():
            lv0 = R.match_shape(w, (m, k))
            lv1: Tensor((n, k), "float32") = relax.matmul(x, lv0)
            gv0 = relax.call_tir(double, (lv1,), (n, k), dtype="float32")
            relax.output(gv0)
        relax.print(gv0, format="{}")
        size: Shape = (n * k,)
        return relax.reshape(gv0, size)
