# title: A sum that rounds
# shows: a small number that is added to a large one is lost
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(private=True, s_tir=True)
    def row_sums(x: T.Buffer((1, 4), "float32"), y: T.Buffer((1,), "float32")):
        for i0, k0 in T.grid(1, 4):
            with T.sblock("row_sums"):
                i, k = T.axis.remap("SR", [i0, k0])
                with T.init():
                    y[i] = T.float32(0)
                y[i] = y[i] + x[i, k]

    @R.function
    def main() -> R.Tensor((1,), "float32"):
        cls = Module
        x = R.const([[100000000, 1, -100000000, 1]], "float32")
        y = R.call_tir(cls.row_sums, (x,), out_ty=R.Tensor((1,), "float32"))
        return y
