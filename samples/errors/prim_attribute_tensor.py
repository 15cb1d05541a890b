# title: A tensor as an attribute
# shows: attributes are scalars on the host; UnboxScalars converts
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), a: R.Tensor((), "int64")):
        y = R.nn.softmax(x, axis=a)  #! TY003
        z = R.sum(x, axis=[a])  #! TY003
        return (y, z)
