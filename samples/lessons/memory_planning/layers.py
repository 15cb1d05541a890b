# title: Four steps of a network
# shows: how many storages the results of a chain need
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((16, 16), "float32")) -> R.Tensor((16, 16), "float32"):
        with R.dataflow():
            a = R.exp(x)
            b = R.nn.relu(a)
            c = R.sqrt(b)
            d = R.add(c, c)
            R.output(d)
        return d
