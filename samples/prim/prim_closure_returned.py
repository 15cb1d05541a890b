# title: A closure that is returned
# shows: make returns a function that remembers its scalar
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module
class Module:
    @R.function
    def make(a: R.Prim("float32")):
        @R.function
        def inner(x: R.Tensor((2,), "float32")):
            y = R.add(x, R.full((2,), a, "float32"))
            return y

        return inner

    @R.function
    def main(x: R.Tensor((2,), "float32")):
        cls = Module
        f = cls.make(R.prim_value(T.float32(0.5)))
        y = f(x)
        return y
