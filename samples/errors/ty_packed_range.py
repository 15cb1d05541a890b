# title: Values out of range
# shows: a choice, an axis, an axis twice and a negative size, each known before the run
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 2), "float32")):
        a = R.call_pure_packed("libtorch_gelu", x, approximate="erf")  #! TY072
        b = R.call_pure_packed("libtorch_softmax", x, dim=2)  #! TY072
        c = R.call_pure_packed("libtorch_sum", x, dim=[0, -2])  #! TY072
        d = R.call_pure_packed("libtorch_full", [2, -1], 0.0)  #! TY072
        return (a, b, c, d)
