# title: A result of the other kind
# shows: the declared result is a tensor, the value a scalar
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def boxed(n: R.Prim("int64")) -> R.Tensor((), "int64"):
        return R.prim_value(n * 2)  #! TY021

    @R.function
    def unboxed(x: R.Tensor((), "float32")) -> R.Prim("float32"):
        return R.exp(x)  #! TY021
