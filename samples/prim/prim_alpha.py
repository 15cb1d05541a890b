# title: A computed attribute
# shows: alpha is computed from two parameters and given by name
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((3,), "float32"), a: R.Prim("float64"), b: R.Prim("float64")):
        y = R.nn.leakyrelu(x, alpha=a * b)
        return y
