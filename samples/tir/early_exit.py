# title: Leave a loop early
# shows: break, continue and a loop with a step; the checks and the limit of work stay in place
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(private=True, s_tir=True)
    def first_even_place_above_half(x: T.handle, place: T.handle):
        n = T.int64()
        m = T.int64()
        X = T.match_buffer(x, (n, m), "float32")
        Place = T.match_buffer(place, (n,), "int32")
        for i in range(n):
            Place[i] = T.int32(-1)
            for j in range(T.int64(0), m, T.int64(2)):
                if X[i, j] <= T.float32(0.5):
                    continue
                Place[i] = T.Cast("int32", j)
                break

    @R.function
    def main(x: R.Tensor(("n", "m"), "float32")) -> R.Tensor(("n",), "int32"):
        n = T.int64()
        m = T.int64()
        cls = Module
        place = R.call_tir(cls.first_even_place_above_half, (x,), out_ty=R.Tensor((n,), "int32"))
        return place
