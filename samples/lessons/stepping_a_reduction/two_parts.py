# title: A sum in two parts
# shows: the even and the odd elements are summed on their own, and then the two sums
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(private=True, s_tir=True)
    def row_sums(x: T.Buffer((1, 4), "float32"), y: T.Buffer((1,), "float32")):
        part = T.sblock_alloc_buffer((1, 2), "float32")
        for i0, p0, k0 in T.grid(1, 2, 2):
            with T.sblock("parts"):
                i, p, k = T.axis.remap("SSR", [i0, p0, k0])
                with T.init():
                    part[i, p] = T.float32(0)
                part[i, p] = part[i, p] + x[i, k * 2 + p]
        for i0, p0 in T.grid(1, 2):
            with T.sblock("whole"):
                i, p = T.axis.remap("SR", [i0, p0])
                with T.init():
                    y[i] = T.float32(0)
                y[i] = y[i] + part[i, p]

    @R.function
    def main() -> R.Tensor((1,), "float32"):
        cls = Module
        x = R.const([[100000000, 1, -100000000, 1]], "float32")
        y = R.call_tir(cls.row_sums, (x,), out_ty=R.Tensor((1,), "float32"))
        return y
