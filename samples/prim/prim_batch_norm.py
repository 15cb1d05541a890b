# title: batch_norm written both ways
# shows: axis and epsilon by position or by name: one call, all parameters are arguments
# source: tlc-pack/relax issue, Relax PrimValue
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), g: R.Tensor((3,), "float32"), v: R.Tensor((3,), "float32")):
        by_position = R.nn.batch_norm(x, g, g, g, v, 1, 1e-3)
        by_name = R.nn.batch_norm(x, g, g, g, v, axis=1, epsilon=1e-3)
        return (by_position[0], by_name[0])
