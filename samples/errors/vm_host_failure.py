# title: A packed function that fails
# shows: an error of host code is shown at the call
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((3,), "float32"), y: R.Tensor((4,), "float32")):
        r = R.call_packed("custom_add", x, y, ty_args=R.Tensor((3,), "float32"))  #! VM002
        return r
