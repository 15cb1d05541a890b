# title: A product with a bias and an activation
# shows: a product takes elementwise operators behind it into its kernel
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(
        x: R.Tensor((8, 32), "float32"), w: R.Tensor((32, 32), "float32"), b: R.Tensor((32,), "float32")
    ) -> R.Tensor((8, 32), "float32"):
        with R.dataflow():
            product = R.matmul(x, w)
            biased = R.add(product, b)
            active = R.nn.relu(biased)
            R.output(active)
        return active
