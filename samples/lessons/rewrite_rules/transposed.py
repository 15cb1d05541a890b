# title: Work that a rule can save
# shows: a matrix that is transposed twice, a factor of one, a sum of a value with itself
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((3, 4), "float32"), y: R.Tensor((3, 4), "float32")) -> R.Tensor((3, 4), "float32"):
        with R.dataflow():
            a = R.permute_dims(x, axes=[1, 0])
            b = R.permute_dims(a, axes=[1, 0])
            c = R.multiply(b, R.const(1.0, "float32"))
            d = R.add(c, y)
            e = R.add(d, d)
            R.output(e)
        return e
