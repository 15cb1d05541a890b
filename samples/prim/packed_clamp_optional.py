# title: Optional scalars
# shows: `Scalar?` may be left out; a tensor of rank 0 is a Scalar too
# source: PyTorch, aten/src/ATen/native/native_functions.yaml
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32"), most: R.Tensor((), "float32")):
        low = R.call_dps_packed("libtorch_clamp_out", (x,), min=0, out_ty=R.Tensor((4,), "float32"))
        both = R.call_dps_packed("libtorch_clamp_out", (x, -0.5, most), out_ty=R.Tensor((4,), "float32"))
        return (low, both)
