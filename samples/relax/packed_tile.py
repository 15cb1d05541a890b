# title: A packed function that fills its output
# shows: `call_dps_packed` allocates the output, which reads uninitialised until the call wrote it
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 6), "float32"):
        y = R.call_dps_packed("custom_tile", (x,), out_ty=R.Tensor((2, 6), "float32"))
        return y
