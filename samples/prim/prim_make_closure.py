# title: make_closure and invoke_closure
# shows: captures of a closure are appended to its arguments; here both are scalars
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def weighted(a: R.Prim("int64"), b: R.Prim("int64")) -> R.Prim("int64"):
        return a * 10 + b

    @R.function(pure=False)
    def main(n: R.Prim("int64")):
        cls = Module
        f = R.make_closure(cls.weighted, (n,))
        y = R.invoke_closure(f, (R.prim_value(7),), ty_args=(R.Prim("int64"),))
        return y
