# title: A loop counted on the host
# shows: the counter is a PrimValue, the accumulator a tensor
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def repeat(count: R.Prim("int64"), x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        cls = Module
        if count < 1:
            y = x
        else:
            y = cls.repeat(count - 1, R.add(x, x))
        return y

    @R.function
    def main(count: R.Prim("int64"), x: R.Tensor((2,), "float32")):
        cls = Module
        y = cls.repeat(count, x)
        return y
