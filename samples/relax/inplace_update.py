# title: A packed function that writes its argument
# shows: `custom_inplace_update` adds 1 in place: step back over it and see the old value
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        y = R.add(x, x)
        R.call_packed("custom_inplace_update", y, ty_args=R.Tuple)
        a = R.print(y)
        R.call_packed("custom_inplace_update", y, ty_args=R.Tuple)
        return y
