# title: A field that is not there
# shows: fields count from 0
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        t = (x, x)
        y = t[2]  #! TY025
        z = x[0]  #! TY025
        return (y, z)
