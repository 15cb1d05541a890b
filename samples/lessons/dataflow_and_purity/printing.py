# title: A pure function beside one with an effect
# shows: what a dataflow block may hold, and what stays outside of it
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def layer(x: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        with R.dataflow():
            a = R.exp(x)
            unused = R.log(a)
            b = R.add(a, a)
            R.output(b)
        return b

    @R.function(pure=False)
    def main(x: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        y = Module.layer(x)
        R.print(y.shape[0], format="rows {}")
        z = Module.layer(y)
        R.print(z.shape[1], format="columns {}")
        return z
