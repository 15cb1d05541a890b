# title: Arguments of wrong types
# shows: a string for a number, a tensor for a host scalar, a scalar for a tensor, a list that is too long
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 2), "float32"), n: R.Prim("int64")):
        a = R.call_pure_packed("libtorch_add", x, x, alpha="two")  #! TY071
        b = R.call_pure_packed("libtorch_add", x, x, alpha=x)  #! TY071
        c = R.call_pure_packed("libtorch_add", x, n)  #! TY071
        d = R.call_pure_packed("libtorch_upsample_nearest2d", x, [2, 2, 2])  #! TY071
        e = R.call_pure_packed("libtorch_sum", x, keepdim=1)  #! TY071
        return (a, b, c, d, e)
