# title: match_cast through a tuple
# shows: the scalar in a tuple and the dimension of the tensor beside it must agree
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module
class Module:
    @R.function(pure=False)
    def main(a: R.Prim("int64"), x: R.Tensor((3,), "float32")):
        n = T.int64()
        given = R.call_packed("custom_identity", (a, x))
        pair = R.match_cast(given, R.Tuple(R.Prim(value=n), R.Tensor((n,), "float32")))
        y = pair[1]
        return R.add(y, y)
