# title: Attributes out of range
# shows: strides, groups and probabilities have a range
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 4, 8, 8), "float32"), w: R.Tensor((4, 4, 3, 3), "float32")):
        a = R.nn.conv2d(x, w, strides=[-1, 1])  #! TY041
        b = R.nn.conv2d(x, w, groups=0)  #! TY041
        c = R.nn.conv2d(x, w, dilation=0)  #! TY041
        d = R.nn.dropout(x, rate=1.5)  #! TY041
        e = R.nn.max_pool2d(x, pool_size=[0, 2])  #! TY041
        return (a, b, c, d, e)
