# title: Row sums, column by column
# shows: with the loops exchanged every sum is begun before one is done
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(private=True, s_tir=True)
    def row_sums(x: T.Buffer((3, 4), "float32"), y: T.Buffer((3,), "float32")):
        for k0, i0 in T.grid(4, 3):
            with T.sblock("row_sums"):
                i, k = T.axis.remap("SR", [i0, k0])
                with T.init():
                    y[i] = T.float32(0)
                y[i] = y[i] + x[i, k]

    @R.function
    def main() -> R.Tensor((3,), "float32"):
        cls = Module
        x = R.const([[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]], "float32")
        y = R.call_tir(cls.row_sums, (x,), out_ty=R.Tensor((3,), "float32"))
        return y
