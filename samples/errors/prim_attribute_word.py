# title: Words that an operator does not know
# shows: modes and layouts are words of a list
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 4, 8, 8), "float32"), w: R.Tensor((4, 4, 3, 3), "float32")):
        a = R.nn.conv2d(x, w, data_layout="XYZW")  #! TY038
        b = R.nn.pad(x, [0, 0, 0, 0, 1, 1, 1, 1], pad_mode="mirror")  #! TY018
        c = R.image.resize2d(x, (4, 4), method="best")  #! TY018
        return (a, b, c)
