# title: A dtype as a value
# shows: the dtype of a conversion, bound to a name of its own
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((3,), "float32")):
        kind = R.dtype("int32")
        y = R.astype(x, "int32")
        return (y, kind)
