# title: Three elementwise operators
# shows: a chain that FuseOps makes one kernel of
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((8, 32), "float32")) -> R.Tensor((8, 32), "float32"):
        with R.dataflow():
            a = R.exp(x)
            b = R.sqrt(a)
            c = R.nn.relu(b)
            R.output(c)
        return c
