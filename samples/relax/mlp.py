# title: A small network
# shows: two layers in a dataflow block: matmul, bias, relu, softmax
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
        w2: R.Tensor((16, 3), "float32"),
    ) -> R.Tensor((4, 3), "float32"):
        with R.dataflow():
            lv = R.matmul(x, w1)
            lv1 = R.add(lv, b1)
            lv2 = R.nn.relu(lv1)
            lv3 = R.matmul(lv2, w2)
            gv = R.nn.softmax(lv3, axis=-1)
            R.output(gv)
        return gv
