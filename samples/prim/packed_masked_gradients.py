# title: A list of truth values
# shows: `bool[3]` says which of three gradients are computed; the others are absent
# source: PyTorch, aten/src/ATen/native/native_functions.yaml
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(g: R.Tensor((2, 3), "float32"), x: R.Tensor((2, 3), "float32")):
        mean = R.call_pure_packed("libtorch_mean", x, dim=1, keepdim=True)
        rstd = R.ones((2, 1), "float32")
        found = R.call_pure_packed(
            "libtorch_native_layer_norm_backward", g, x, [3], mean, rstd, None, None, [True, False, True]
        )
        return found
