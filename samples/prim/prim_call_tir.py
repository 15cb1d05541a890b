# title: A scalar argument of a kernel
# shows: the prim func takes the scalar by value, between its buffers
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module
class Module:
    @T.prim_func(private=True)
    def scale(x: T.Buffer((T.int64(4),), "float32"), k: T.float32, out: T.Buffer((T.int64(4),), "float32")):
        for i in range(4):
            with T.sblock("scale"):
                v = T.axis.spatial(4, i)
                out[v] = x[v] * k

    @R.function
    def main(x: R.Tensor((4,), "float32"), k: R.Prim("float32")):
        cls = Module
        y = R.call_tir(cls.scale, (x, k), out_ty=R.Tensor((4,), "float32"))
        return y
