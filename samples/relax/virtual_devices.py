# title: What a module says of itself
# shows: module attributes, virtual devices in the global infos, tensors placed on them
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    I.module_attrs({"system_lib_prefix": "demo_", "levels": [1, 2, 3]})
    I.module_global_infos({"vdevice": [I.vdevice("llvm"), I.vdevice("llvm", 1), I.vdevice({"kind": "llvm"}, 2)]})

    @R.function
    def main(x: R.Tensor((2, 3), "float32", "llvm:0")) -> R.Tensor((2, 3), "float32", "llvm:1"):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            y = R.exp(x)
            z: R.Tensor((2, 3), "float32", "llvm:1") = R.to_vdevice(y, "llvm:1")
            R.output(z)
        return z
