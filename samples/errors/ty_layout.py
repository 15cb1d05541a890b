# title: A layout that names an axis twice, and one that lacks an axis
# shows: a layout names each axis of the tensor once
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 3, 8, 8), "float32"), w: R.Tensor((4, 3, 3, 3), "float32")):
        a = R.nn.conv2d(x, w, data_layout="NCXW")  #! TY038
        b = R.nn.max_pool2d(x, pool_size=[2, 2], layout="NXHW")  #! TY038
        c = R.nn.avg_pool2d(x, pool_size=[2, 2], layout="NCHW")
        return (a, b, c)
