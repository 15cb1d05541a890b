# title: A loop that is split
# shows: indices made with // and % are proven in range by interval analysis
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(private=True, s_tir=True)
    def transpose(X: T.Buffer((6, 4), "float32"), Y: T.Buffer((4, 6), "float32")):
        for outer, inner in T.grid(3, 8):
            with T.sblock("transpose"):
                i = T.axis.spatial(6, (outer * 8 + inner) // 4)
                j = T.axis.spatial(4, (outer * 8 + inner) % 4)
                Y[j, i] = X[i, j]

    @R.function
    def main(x: R.Tensor((6, 4), "float32")) -> R.Tensor((4, 6), "float32"):
        cls = Module
        y = R.call_tir(cls.transpose, (x,), out_ty=R.Tensor((4, 6), "float32"))
        return y
