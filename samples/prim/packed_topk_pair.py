# title: Two results
# shows: `topk` gives values and their positions; `k` comes from a shape
# source: PyTorch, aten/src/ATen/native/native_functions.yaml
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 6), "float32")):
        n = T.int64()
        found = R.call_pure_packed("libtorch_topk", x, k=n, largest=False)
        return found
