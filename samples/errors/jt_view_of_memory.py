# title: A view that is larger than its memory
# shows: a buffer declared on the memory of another one is checked to lie in it
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(private=True, s_tir=True)
    def flat(X: T.Buffer((4,), "float32"), Y: T.Buffer((4,), "float32")):
        F = T.decl_buffer((2, 3), "float32", data=X.data)  #! JT019
        for i, j in T.grid(2, 2):
            Y[i * 2 + j] = F[i, j]

    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        y = R.call_tir(cls.flat, (x,), out_ty=R.Tensor((4,), "float32"))
        return y
