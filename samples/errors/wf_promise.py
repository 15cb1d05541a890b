# title: A promise of purity that is taken back
# shows: relax.force_pure and pure=False contradict each other
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((2, 3), "float32")):  #! WF018
        R.func_attr({"relax.force_pure": True})
        return x
