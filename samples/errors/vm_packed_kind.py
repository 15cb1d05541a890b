# title: An object that is no Scalar
# shows: what an unknown object is shows when the call runs
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        alpha = R.call_pure_packed("custom_identity", x)
        y = R.call_pure_packed("libtorch_add", x, x, alpha=alpha)  #! VM040
        return y
