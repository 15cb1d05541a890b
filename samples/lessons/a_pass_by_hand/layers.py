# title: A program with work that can be saved
# shows: a product that is computed twice, a second name, a value that nobody uses
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 4), "float32"), w: R.Tensor((4, 4), "float32")) -> R.Tensor((4, 4), "float32"):
        with R.dataflow():
            a = R.matmul(x, w)
            b = R.nn.relu(a)
            c = R.matmul(x, w)
            d = R.nn.relu(c)
            e = R.exp(d)
            f = R.add(b, d)
            g = f
            R.output(g)
        return g
