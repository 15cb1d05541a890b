# title: A convolution with lists of ints
# shows: `int[2]` expands a bare number; the optional bias is left out once
# source: PyTorch, aten/src/ATen/native/native_functions.yaml
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(
        x: R.Tensor((1, 3, 8, 8), "float32"), w: R.Tensor((4, 3, 3, 3), "float32"), b: R.Tensor((4,), "float32")
    ):
        y = R.call_dps_packed(
            "libtorch_slow_conv2d_forward_out", (x, w, [3, 3], b), stride=2, padding=1,
            out_ty=R.Tensor((1, 4, 4, 4), "float32"),
        )
        z = R.call_dps_packed(
            "libtorch_slow_conv2d_forward_out", (x, w), kernel_size=3, stride=[1, 2], padding=[0, 1],
            out_ty=R.Tensor((1, 4, 6, 4), "float32"),
        )
        return (y, z)
