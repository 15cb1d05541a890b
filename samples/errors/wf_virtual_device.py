# title: A virtual device that the module does not list
# shows: the number counts the devices of one kind
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    I.module_global_infos({"vdevice": [I.vdevice("llvm"), I.vdevice("cuda", 3)]})

    @R.function
    def main(
        x: R.Tensor((2, 3), "float32", "llvm:0"),
        y: R.Tensor((2, 3), "float32", "cuda:0"),
        z: R.Tensor((2, 3), "float32", "llvm:1"),  #! WF019
    ):
        return R.to_vdevice(x, "opencl:0")  #! WF019
