# title: Row sums, begun at zero
# shows: the init of a block runs when its reduction starts
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(private=True, s_tir=True)
    def row_sum(x: T.Buffer((4, 8), "float32"), y: T.Buffer((4,), "float32")):
        for i0, k0 in T.grid(4, 8):
            with T.sblock("row_sum"):
                i, k = T.axis.remap("SR", [i0, k0])
                with T.init():
                    y[i] = T.float32(0)
                y[i] = y[i] + x[i, k]

    @R.function
    def main(x: R.Tensor((4, 8), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        y = R.call_tir(cls.row_sum, (x,), out_ty=R.Tensor((4,), "float32"))
        return y
