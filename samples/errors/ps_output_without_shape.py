# title: An output whose shape nobody knows
# shows: the caller of a destination-passing function must be able to allocate its output
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((2, 3), "float32")):
        y = R.call_dps_packed("custom_tile", (x,), out_ty=R.Tensor(ndim=2, dtype="float32"))  #! PS004
        return y
