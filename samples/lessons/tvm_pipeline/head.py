# title: A dense layer, as TVM builds it
# shows: what each pass of the default pipeline for llvm makes of a matrix product, a sum and a ReLU
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(
        x: R.Tensor((2, 4), "float32"), w: R.Tensor((4, 3), "float32"), b: R.Tensor((3,), "float32")
    ) -> R.Tensor((2, 3), "float32"):
        with R.dataflow():
            h = R.matmul(x, w)
            s = R.add(h, b)
            y = R.nn.relu(s)
            R.output(y)
        return y
