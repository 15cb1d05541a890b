# title: A softmax that overflows
# shows: exp of a large number is infinite in float32, and infinity divided by itself is no number
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main() -> R.Tensor((2, 3), "float32"):
        x = R.const([[1.0, 2.0, 3.0], [0.0, 50.0, 100.0]], "float32")
        e = R.exp(x)
        s = R.sum(e, axis=[1], keepdims=True)
        y = R.divide(e, s)
        return y
