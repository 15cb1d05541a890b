# title: A variable without a value
# shows: TVM prints so what one of its passes has left unbound
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        y: R.Tensor((2, 3), "float32")  #! PA034
        return R.add(x, y)  #! WF024
