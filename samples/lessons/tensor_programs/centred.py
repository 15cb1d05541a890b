# title: A relu that has something to do
# shows: inputs between 0 and 1, moved to both sides of 0, and an activation that leaves nothing below it
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 4), "float32")) -> R.Tensor((2, 4), "float32"):
        with R.dataflow():
            centred = R.subtract(x, R.const(0.5, "float32"))
            active = R.nn.relu(centred)
            R.output(active)
        return active
