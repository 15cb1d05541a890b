# title: Two dtypes
# shows: there is no implicit conversion
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        y = R.multiply(x, R.zeros((2, 3), "float16"))  #! TY011
        return y
