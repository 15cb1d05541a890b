# title: A condition on the host
# shows: if takes a bool PrimValue: no tensor is read back
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((3,), "float32"), is_training: R.Prim("bool")):
        if is_training:
            y = R.multiply(x, R.const(2.0, "float32"))
        else:
            y = x
        return y
