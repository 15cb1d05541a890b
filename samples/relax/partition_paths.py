# title: Two libraries take their parts
# shows: composites of two targets; a value that leaves a region and comes back keeps two regions apart
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(
        x: R.Tensor((4, 8), "float32"),
        w1: R.Tensor((8, 16), "float32"),
        b1: R.Tensor((16,), "float32"),
        w2: R.Tensor((16, 16), "float32"),
    ) -> R.Tensor((4, 16), "float32"):
        with R.dataflow():
            lv = R.matmul(x, w1)
            lv1 = R.add(lv, b1)
            hidden = R.nn.relu(lv1)
            wave = R.sin(hidden)
            sum = R.add(hidden, wave)
            gate = R.sigmoid(sum)
            scaled = R.multiply(gate, R.const(0.5, "float32"))
            lv2 = R.matmul(scaled, w2)
            out = R.nn.relu(lv2)
            R.output(out)
        return out
