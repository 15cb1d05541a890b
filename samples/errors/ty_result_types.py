# title: A call whose results are allocated, without their types
# shows: what is allocated before a call has a declared type
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module
class Module:
    @T.prim_func
    def copy(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.sblock("y"):
                vi = T.axis.spatial(4, i)
                y[vi] = x[vi]

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        a = R.call_tir(cls.copy, (x,), out_ty=R.Tensor((4,), "float32"))
        b = R.call_py_func("copy", (x,))  #! TY031
        return (a, b)
