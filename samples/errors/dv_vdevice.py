# title: A virtual device that the module does not have
# shows: a number behind the end of the module's table
# source: RelaxScope
# passes: UpdateVDevice(new_vdevice='cuda:0:global', index=3)
from tvm.script import ir as I, relax as R


@I.ir_module
class Module:  #! DV006
    I.module_global_infos({"vdevice": [I.vdevice("llvm")]})

    @R.function
    def main(x: R.Tensor((2,), "float32", vdevice="llvm:0")) -> R.Tensor((2,), "float32"):
        return x
