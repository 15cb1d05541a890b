# title: A conditional in a dataflow block
# shows: control flow stands outside
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(c: R.Tensor((), "bool"), x: R.Tensor((2, 3), "float32")):
        with R.dataflow():
            if c:  #! WF010
                y = R.exp(x)
            else:
                y = x
            R.output(y)
        return y
