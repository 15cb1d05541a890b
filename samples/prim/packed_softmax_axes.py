# title: Softmax over a list of axes
# shows: `int[1]` takes a list, or one number that stands for a list of one; the type of the result comes from the schema
# source: PyTorch, aten/src/ATen/native/native_functions.yaml
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3, 4), "float32")):
        one = R.call_pure_packed("libtorch_softmax", x, dim=-1)
        two = R.call_pure_packed("libtorch_softmax", x, dim=[1, 2])
        return (one, two)
