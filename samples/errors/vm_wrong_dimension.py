# title: Two sizes for one symbol
# shows: `n` gets its value from the first argument; the second disagrees
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("n",), "float32")):  #! VM012
        z = R.add(x, y)
        return z
