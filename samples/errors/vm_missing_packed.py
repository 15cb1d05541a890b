# title: A packed function that is missing
# shows: the call fails with the name and names that look like it, when it is reached
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        y = R.add(x, x)
        r = R.call_packed("custom_ad", y, y, ty_args=R.Tensor((3,), "float32"))  #! VM001
        return r
