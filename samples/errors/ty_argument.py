# title: An argument of another size
# shows: the message shows where n got its value
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def add(a: R.Tensor(("n",), "float32"), b: R.Tensor(("n",), "float32")):
        return R.add(a, b)

    @R.function
    def main(x: R.Tensor((3,), "float32"), z: R.Tensor((4,), "float32")):
        cls = Module
        y = cls.add(x, z)  #! TY022
        return y
