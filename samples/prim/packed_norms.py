# title: Layers with many defaults
# shows: a batch norm and a layer norm give only what differs from the defaults of the schema
# source: PyTorch, aten/src/ATen/native/native_functions.yaml
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(
        x: R.Tensor((2, 3), "float32"), mean: R.Tensor((3,), "float32"), var: R.Tensor((3,), "float32")
    ):
        a = R.call_pure_packed("libtorch_batch_norm", x, running_mean=mean, running_var=var, eps=0.001)
        b = R.call_pure_packed("libtorch_layer_norm", a, [3])
        return b
