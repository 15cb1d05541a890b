# title: A match_cast that does not hold
# shows: the rank that the program promises is checked when it runs
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(dtype="float32")) -> R.Tensor((3, 3), "float32"):
        y = R.match_cast(x, R.Tensor((3, 3), "float32"))  #! VM011
        return y
