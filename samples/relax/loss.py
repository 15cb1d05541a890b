# title: A loss to differentiate
# shows: cross entropy of a linear layer; the pass Gradient adds main_adjoint, which returns the loss and its gradients
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(
        x: R.Tensor((4, 8), "float32"),
        w: R.Tensor((8, 3), "float32"),
        b: R.Tensor((3,), "float32"),
        labels: R.Tensor((4, 3), "float32"),
    ) -> R.Tensor((), "float32"):
        with R.dataflow():
            lv = R.matmul(x, w)
            lv1 = R.add(lv, b)
            lv2 = R.nn.log_softmax(lv1, axis=-1)
            loss = R.nn.cross_entropy_with_logits(lv2, labels)
            R.output(loss)
        return loss
