# title: A number that is added as a tensor
# shows: a tensor of rank 0 takes part in arithmetic of tensors, a host scalar does not
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), n: R.Prim("int64")):
        y = x + R.const(1.0, "float32")
        return y
