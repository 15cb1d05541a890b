# title: A string that says what is computed
# shows: the equation is a host scalar; the tensors are a list
# source: PyTorch, aten/src/ATen/native/native_functions.yaml
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((3, 4), "float32")):
        z = R.call_pure_packed("libtorch_einsum", "ij,jk->ki", (x, y), ty_args=R.Tensor((4, 2), "float32"))
        return z
