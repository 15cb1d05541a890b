# title: A string as a host scalar
# shows: one string by position and one by name; both are checked against the choices of the schema
# source: PyTorch, aten/src/ATen/native/native_functions.yaml
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        approximate = R.str("tanh")
        y = R.call_dps_packed("libtorch_gelu_out", x, approximate, out_ty=R.Tensor((4,), "float32"))
        z = R.call_pure_packed("libtorch_gelu", y, approximate="none", ty_args=R.Tensor((4,), "float32"))
        return z
