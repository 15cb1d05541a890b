# title: An operator with operands on two devices
# shows: a tensor that was copied beside one that was not; the machine stops at the kernel
# source: RelaxScope
from tvm.script import ir as I, relax as R


@I.ir_module
class Module:
    I.module_global_infos({"vdevice": [I.vdevice("llvm"), I.vdevice("cuda")]})

    @R.function
    def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        with R.dataflow():
            a = R.to_vdevice(x, "cuda:0")
            b = R.exp(a)
            c: R.Tensor((2, 3), "float32") = R.add(b, y)  #! DV005
            R.output(c)
        return c
