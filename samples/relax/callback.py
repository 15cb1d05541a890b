# title: A packed function that calls back
# shows: `custom_apply` is host code that calls the closure it gets; its frames are part of the run
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((3,), "float32"), y: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        @R.function
        def scale(z: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
            w = R.multiply(x, z)
            return w

        r = R.call_packed("custom_apply", scale, y, ty_args=R.Tensor((3,), "float32"))
        return r
