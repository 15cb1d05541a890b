# title: LegalizeOps for a function that is not there
# shows: the options of a pass are checked against the module
# source: RelaxScope
# passes: LegalizeOps(functions=['missing'])
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module
class Module:  #! PS007
    @R.function
    def main(x: R.Tensor((3,), "float32")):
        y = R.exp(x)
        return y
