# title: Operands on two devices
# shows: an elementwise operator works on one device
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    I.module_global_infos({"vdevice": [I.vdevice("llvm", 0), I.vdevice("llvm", 1)]})

    @R.function
    def main(x: R.Tensor((2, 3), "float32", "llvm:0"), y: R.Tensor((2, 3), "float32", "llvm:1")):
        z = R.add(x, y)  #! TY044
        return z
