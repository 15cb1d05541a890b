# title: A lowered call with too few arguments
# shows: a tuple variable holds the inputs, so their number is known by its type
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        t = (x, x, x, x)
        y = R.call_dps_packed("libtorch_add_out", t, out_ty=R.Tensor((2,), "float32"))  #! TY070
        return y
