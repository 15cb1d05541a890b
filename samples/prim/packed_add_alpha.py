# title: A keyword that becomes a host scalar
# shows: `alpha=2` is placed by the schema; without it the default 1 stands there
# source: PyTorch, aten/src/ATen/native/native_functions.yaml
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((2, 3), "float32")):
        a = R.call_dps_packed("libtorch_add_out", (x, y), alpha=2, out_ty=R.Tensor((2, 3), "float32"))
        b = R.call_packed("libtorch_add", a, y, ty_args=R.Tensor((2, 3), "float32"))
        return b
