# title: To a function and back
# shows: a function takes and returns PrimValues; they are passed by value
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def divide(a: R.Prim("int64"), b: R.Prim("int64")) -> R.Tuple(R.Prim("int64"), R.Prim("int64")):
        return (a // b, a % b)

    @R.function
    def main(a: R.Prim("int64")):
        cls = Module
        parts = cls.divide(a, R.prim_value(5))
        return parts
