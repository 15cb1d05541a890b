# title: A side effect in a dataflow block
# shows: a dataflow block is a graph of values
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((2, 3), "float32")):
        with R.dataflow():
            a = R.exp(x)
            b = R.call_packed("custom_add", a, a, ty_args=R.Tensor((2, 3), "float32"))
            R.output(b)
        return b
