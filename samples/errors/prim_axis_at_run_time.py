# title: An axis that is out of range when it runs
# shows: a computed axis is checked by the machine
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), axis: R.Prim("int64")):
        y = R.nn.softmax(x, axis=axis + 5)  #! VM017
        return y
