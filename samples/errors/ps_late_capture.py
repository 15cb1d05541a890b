# title: A closure that would need a value before it exists
# shows: two local functions that refer to each other, and a variable bound between them
# source: RelaxScope
# passes: LambdaLift
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        @R.function
        def first(y: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):  #! PS006
            z = second(y)
            return z

        late = R.exp(x)

        @R.function
        def second(y: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
            z = R.add(y, late)
            return z

        out = first(x)
        return out
