# title: A scalar as a dimension
# shows: a parameter of a scalar type gives the shape of a tensor
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(n: R.Prim("int64")):
        square = R.zeros((n, n + 1), "float32")
        return square
