# title: The sum of each row
# shows: what a reduction begins with belongs to what it combines by
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(private=True, s_tir=True)
    def row_sums(x: T.Buffer((3, 4), "float32"), y: T.Buffer((3,), "float32")):
        for i0, k0 in T.grid(3, 4):
            with T.sblock("row_sums"):
                i, k = T.axis.remap("SR", [i0, k0])
                with T.init():
                    y[i] = T.float32(0)
                y[i] = y[i] + x[i, k]

    @R.function
    def main(x: R.Tensor((3, 4), "float32")) -> R.Tensor((3,), "float32"):
        cls = Module
        y = R.call_tir(cls.row_sums, (x,), out_ty=R.Tensor((3,), "float32"))
        return y
