# title: A missing packed function that is not reached
# shows: names of packed functions are looked up when they are called: this program runs unless `c` is true
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((3,), "float32"), c: R.Tensor((), "bool")) -> R.Tensor((3,), "float32"):
        if c:
            r = R.call_packed("my_sigmoid", x, ty_args=R.Tensor((3,), "float32"))
        else:
            r = R.add(x, x)
        return r
