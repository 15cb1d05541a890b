# title: A scalar and a tensor in one sum
# shows: arithmetic is of scalars or of tensors; BoxPrims makes a tensor of the scalar
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), n: R.Prim("int64")):
        y = x + n
        z = R.multiply(n, x)
        return (y, z)
