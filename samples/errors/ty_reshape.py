# title: A reshape that loses elements
# shows: symbolic sizes are compared as polynomials
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 6), "float32")):
        n = T.int64()
        y = R.reshape(x, (n * 3, 2))
        z = R.reshape(x, (n * 6 + 1,))  #! TY015
        return (y, z)
