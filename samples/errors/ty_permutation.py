# title: Axes that are no permutation
# shows: each axis is named once
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        y = R.permute_dims(x, axes=[0, 0])  #! TY017
        z = R.permute_dims(x, axes=[1])  #! TY017
        return (y, z)
