# title: The stricter policy
# shows: scalars only among the arguments of packed functions
# source: RelaxScope
# prims: packed_only
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((2, 3), "float32"), n: R.Prim("int64")):  #! TY043
        a = R.prim_value(2)
        y = R.call_packed("custom_identity", a, ty_args=(R.Prim("int64"),))
        z = R.nn.softmax(x, axis=n)  #! TY043
        return (z, y)  #! TY043
