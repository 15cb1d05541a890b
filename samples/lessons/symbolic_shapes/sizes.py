# title: Symbolic shapes
# shows: dimensions from arguments, arithmetic on them, `match_cast`, a shape as a value
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module
class Module:
    @R.function
    def main(
        x: R.Tensor(("n", "m"), "float32"),
        y: R.Tensor(dtype="float32", ndim=2),
    ):
        n = T.int64()
        m = T.int64()
        k = T.int64()
        w = R.match_cast(y, R.Tensor((m, k), "float32"))
        product = R.matmul(x, w)
        flat = R.reshape(product, R.shape([n * k]))
        both = R.concat((flat, flat), axis=0)
        size = R.shape_of(both)
        return (both, size)
