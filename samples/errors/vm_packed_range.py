# title: An axis that is computed and out of range
# shows: the program is well typed, and stops where the axis meets the tensor
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 3), "float32")):
        n = T.int64()
        y = R.call_pure_packed("libtorch_softmax", x, dim=n)  #! VM041
        return y
