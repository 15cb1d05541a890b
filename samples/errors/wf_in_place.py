# title: Inputs that are written in place
# shows: at least one is written, and is what the result says
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module
class Module:
    @T.prim_func
    def double(A: T.Buffer((4,), "float32")):
        for i in range(4):
            A[i] = A[i] * T.float32(2)

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        a = R.call_tir_inplace(cls.double, (x,), inplace_indices=[0], out_ty=R.Tensor((4,), "float32"))
        b = R.call_tir_inplace(cls.double, (a,), inplace_indices=[2], out_ty=R.Tensor((4,), "float32"))  #! WF020
        c = R.call_inplace_packed("f", b, inplace_indices=[-1], ty_args=R.Tensor((4,), "float32"))  #! WF020
        return R.call_inplace_packed("f", c, inplace_indices=[0], ty_args=R.Tensor((5,), "float32"))  #! WF020
