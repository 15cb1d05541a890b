# title: A scalar from a packed function
# shows: the declared type of a result is checked; the scalar gives a dimension
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function(pure=False)
    def main(n: R.Prim("int64")):
        k = R.call_packed("custom_identity", n, ty_args=(R.Prim("int64"),))
        y = R.ones((k + 1,), "float32")
        return (k, y)
