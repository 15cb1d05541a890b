# title: A pass that needs another one before it
# shows: VMShapeLower on a module with a local function; the hint names LambdaLift
# source: RelaxScope
# passes: Normalize, VMShapeLower
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((3,), "float32")):
        @R.function
        def twice(y: R.Tensor((3,), "float32")):  #! PS003
            z = R.add(y, y)
            return z

        out = twice(x)
        return out
