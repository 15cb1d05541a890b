# title: A prim func called with too few arguments
# shows: a direct call gives the results too
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module
class Module:
    @T.prim_func
    def copy(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            B[i] = A[i]

    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        cls.copy(x)  #! WF021
        return x
