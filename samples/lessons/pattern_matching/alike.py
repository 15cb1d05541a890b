# title: Three layers that all look alike
# shows: each layer is a product with a bias and a relu, so that the pattern matches three times
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(
        x: R.Tensor((4, 8), "float32"), w: R.Tensor((8, 8), "float32"), b: R.Tensor((8,), "float32")
    ) -> R.Tensor((4, 8), "float32"):
        with R.dataflow():
            p1 = R.matmul(x, w)
            s1 = R.add(p1, b)
            r1 = R.nn.relu(s1)
            p2 = R.matmul(r1, w)
            s2 = R.add(p2, b)
            r2 = R.nn.relu(s2)
            p3 = R.matmul(r2, w)
            s3 = R.add(p3, b)
            r3 = R.nn.relu(s3)
            R.output(r3)
        return r3
