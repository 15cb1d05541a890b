# title: The spelling of the proposal
# shows: R.PrimValue makes the same value as R.prim_value
# source: tlc-pack/relax issue, Relax PrimValue
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main():
        sorted_ = R.PrimValue(True)
        alpha = R.PrimValue(2)
        return (sorted_, alpha)
