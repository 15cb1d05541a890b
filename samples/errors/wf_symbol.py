# title: A symbol without a value
# shows: an expression of n does not give n a value
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n * 2",), "float32")):  #! WF006
        n = T.int64()
        y = R.zeros((n,), "float32")
        return y
