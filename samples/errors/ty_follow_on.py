# title: One mistake, one message
# shows: users of a wrong value are silent
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        y = R.add(x, R.zeros((4,), "float32"))  #! TY010
        z = R.matmul(y, y)
        w: R.Tensor((5,), "int32") = R.exp(z)
        return w
