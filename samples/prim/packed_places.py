# title: Elements at other places
# shows: flip, roll, pad, split and select: lists of ints with and without defaults
# source: PyTorch, aten/src/ATen/native/native_functions.yaml
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 3), "float32"), index: R.Tensor((2,), "int64")):
        a = R.call_pure_packed("libtorch_flip", x, [0])
        b = R.call_pure_packed("libtorch_roll", a, shifts=1, dims=1)
        c = R.call_pure_packed("libtorch_constant_pad_nd", b, [1, 1], value=9.0)
        d = R.call_pure_packed("libtorch_index_select", c, 0, index)
        pieces = R.call_pure_packed("libtorch_split", d, 1)
        return (d, pieces)
