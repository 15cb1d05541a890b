# title: A vector computed from a dimension
# shows: a slot of the shape heap holds one number
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        y = R.call_packed("custom_scale", x, R.prim_value(T.Broadcast(n, 4)), ty_args=R.Tensor((n,), "float32"))  #! PS005
        return y
