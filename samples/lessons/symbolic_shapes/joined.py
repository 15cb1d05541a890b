# title: Rows of any number, joined
# shows: a concatenation adds sizes, so that nothing has to agree but the columns
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(
        x: R.Tensor(("n", 4), "float32"),
        y: R.Tensor(("m", 4), "float32"),
    ):
        total = R.concat((x, y), axis=0)
        return total
