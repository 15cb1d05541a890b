# title: A loop without an end
# shows: a `while` of a prim func is stopped by the clock, at its line
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module
class Module:
    @T.prim_func(private=True)
    def spin(A: T.Buffer((1,), "int64"), B: T.Buffer((1,), "int64")):
        B[0] = A[0] % T.int64(2)
        while B[0] >= T.int64(0):  #! VM005
            B[0] = T.int64(1) - B[0]

    @R.function
    def main(x: R.Tensor((1,), "int64")) -> R.Tensor((1,), "int64"):
        cls = Module
        y = R.call_tir(cls.spin, (x,), out_ty=R.Tensor((1,), "int64"))
        return y
