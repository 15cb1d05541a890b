# title: A loop, written as recursion
# shows: a local function that calls itself and captures `x` doubles a tensor `n` times
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(n: R.Tensor((), "int64"), x: R.Tensor((2, 2), "float32")) -> R.Tensor((2, 2), "float32"):
        @R.function
        def loop(i: R.Tensor((), "int64"), total: R.Tensor((2, 2), "float32")) -> R.Tensor((2, 2), "float32"):
            goes_on = R.less(i, n)
            if goes_on:
                following = R.add(i, R.const(1, "int64"))
                more = R.add(total, x)
                r = loop(following, more)
            else:
                r = total
            return r

        result = loop(R.const(0, "int64"), x)
        return result
