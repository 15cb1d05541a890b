# title: A private function with a global_symbol
# shows: the name outside is for public functions
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function(private=True)
    def main(x: R.Tensor((2, 3), "float32")):  #! WF009
        R.func_attr({"global_symbol": "main"})
        return x
