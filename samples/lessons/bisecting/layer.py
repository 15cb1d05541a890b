# title: A layer whose result is known
# shows: a difference, a scale and a sum over a constant input; the first row is 1, 3 on paper
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main() -> R.Tensor((2,), "float32"):
        x = R.const([[5.0, 8.0], [2.0, 1.0]], "float32")
        m = R.const([[4.0, 5.0], [3.0, 3.0]], "float32")
        with R.dataflow():
            d = R.subtract(x, m)
            t = R.multiply(d, R.const(1.0, "float32"))
            s = R.sum(t, axis=[1])
            r = R.abs(s)
            q = R.add(r, s)
            R.output(q)
        return q
