# title: An operator that the table has not
# shows: it is read and shown; it has no type, and what follows from it is not reported again
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        a = R.vm.load_shape(x, ty_args=R.Tensor((4,), "float32"))  #! TY030
        b = R.add(a, x)
        return b
