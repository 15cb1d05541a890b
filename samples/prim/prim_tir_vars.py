# title: tir_vars
# shows: scalars that no buffer's shape gives follow the results
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module
class Module:
    @T.prim_func(private=True)
    def ramp(out: T.Buffer((T.int64(4),), "int64"), step: T.int64):
        for i in range(4):
            with T.sblock("ramp"):
                v = T.axis.spatial(4, i)
                out[v] = T.Cast("int64", v) * step

    @R.function
    def main(step: R.Prim("int64")):
        cls = Module
        y = R.call_tir(cls.ramp, (), out_ty=R.Tensor((4,), "int64"), tir_vars=R.shape([step + 1]))
        return y
