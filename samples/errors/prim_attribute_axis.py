# title: An axis out of range
# shows: written out, and computed from nothing but literals
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        a = R.nn.softmax(x, axis=2)  #! TY014
        b = R.permute_dims(x, axes=[0, -3])  #! TY014
        return (a, b)
