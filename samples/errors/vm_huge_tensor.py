# title: A tensor that is too large
# shows: memory is limited before it is taken
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main() -> R.Tensor((1099511627776,), "float32"):
        x = R.zeros((1 << 40,), "float32")  #! VM006
        return x
