# title: A product with different inner sizes
# shows: the hint knows when a transposition is missing
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 3), "float32"), w: R.Tensor((4, 3), "float32")):
        y = R.matmul(x, w)  #! TY012
        return R.add(y, y)
