# title: A global_symbol that is another name
# shows: callers outside would look for the wrong name
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):  #! WF017
        R.func_attr({"global_symbol": "entry"})
        return x
