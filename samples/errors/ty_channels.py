# title: Sizes that must agree
# shows: channels, weights of a normalization, parts of a split over workers, blocks of pixels
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 6, 8, 8), "float32"), w: R.Tensor((4, 3, 3, 3), "float32"), g: R.Tensor((5,), "float32")):
        a = R.nn.conv2d(x, w)  #! TY037
        b = R.nn.conv2d(x, w, groups=2)
        c = R.nn.layer_norm(x, g, g, axes=[-1])  #! TY037
        d = R.nn.pixel_shuffle(x, upscale_factor=2)  #! TY037
        e = R.ccl.scatter_from_worker0(x, num_workers=4, axis=1)  #! TY037
        return (a, b, c, d, e)
