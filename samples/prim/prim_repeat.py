# title: A count that only the run knows
# shows: repeat by an unknown count gives a tensor with an unknown dimension
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((3,), "float32"), count: R.Prim("int64")):
        y = R.repeat(x, count, axis=0)
        return y
