# title: Loops that are not next to each other
# shows: Fuse joins a loop with its only child
# source: RelaxScope
# passes: Fuse(block='copy', loops=['i', 'k'])
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(private=True, s_tir=True)
    def copy(X: T.Buffer((2, 3, 4), "float32"), Y: T.Buffer((2, 3, 4), "float32")):
        for i in range(2):
            for j in range(3):
                for k in range(4):  #! PS019
                    with T.sblock("copy"):
                        vi, vj, vk = T.axis.remap("SSS", [i, j, k])
                        Y[vi, vj, vk] = X[vi, vj, vk]

    @R.function
    def main(x: R.Tensor((2, 3, 4), "float32")) -> R.Tensor((2, 3, 4), "float32"):
        cls = Module
        y = R.call_tir(cls.copy, (x,), out_ty=R.Tensor((2, 3, 4), "float32"))
        return y
