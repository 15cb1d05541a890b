# title: Too many arguments
# shows: the destination of `call_dps_packed` is allocated, not given
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        y = R.call_dps_packed("libtorch_gelu_out", (x, "none", x), out_ty=R.Tensor((2,), "float32"))  #! PA053
        return y
