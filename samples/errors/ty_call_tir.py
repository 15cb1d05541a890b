# title: call_tir that does not fit its prim func
# shows: inputs and results are compared with the buffers
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module
class Module:
    @T.prim_func
    def copy(var_a: T.handle, var_b: T.handle):
        n = T.int64()
        a = T.match_buffer(var_a, (n,), "float32")
        b = T.match_buffer(var_b, (n,), "float32")
        for i in range(n):
            with T.sblock("copy"):
                v_i = T.axis.spatial(n, i)
                b[v_i] = a[v_i]

    @R.function
    def main(x: R.Tensor((3,), "float32")):
        cls = Module
        a = R.call_tir(cls.copy, (x,), out_ty=R.Tensor((3,), "float16"))  #! TY029
        b = R.call_tir(cls.copy, (x,), out_ty=R.Tensor((4,), "float32"))  #! TY029
        c = R.call_tir(cls.copy, (x, x), out_ty=R.Tensor((3,), "float32"))  #! TY036
        d = R.call_tir(cls.main, (x,), out_ty=R.Tensor((3,), "float32"))  #! TY032
        return (a, b, c, d)
