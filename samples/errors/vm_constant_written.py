# title: A constant that is written in place
# shows: a tensor of the program's text may not change
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function(pure=False)
    def main():
        x = R.const([1.0, 2.0], "float32")
        R.call_packed("custom_inplace_update", x, ty_args=R.Tuple)  #! VM018
        return x
