# title: From an object to a scalar
# shows: match_cast checks that the object is an integer and names its value
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module
class Module:
    @R.function(pure=False)
    def main(a: R.Prim("int64")):
        n = T.int64()
        given = R.call_packed("custom_identity", a)
        k = R.match_cast(given, R.Prim(value=n))
        y = R.ones((n,), "float32")
        return (k, y)
