# title: A cast that can never hold
# shows: the dtype is known and different
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        y = R.match_cast(x, R.Tensor((2, 3), "int32"))  #! TY027
        z = R.match_cast(x, R.Tensor(("n", "n"), "float32"))  #! TY027
        return (y, z)
