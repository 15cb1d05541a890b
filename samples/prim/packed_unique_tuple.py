# title: Results that arguments ask for
# shows: `return_inverse` and `return_counts` decide how many results there are; their types follow
# source: PyTorch, aten/src/ATen/native/native_functions.yaml
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((6,), "int64")):
        values = R.call_pure_packed("libtorch_unique", x)
        all = R.call_pure_packed("libtorch_unique", x, return_inverse=True, return_counts=True)
        counts = all[2]
        return (values, counts)
