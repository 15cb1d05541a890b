# title: Two local functions that call each other
# shows: mutual recursion of local functions, one of which captures a variable
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(n: R.Tensor((), "int64"), x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        @R.function
        def even(k: R.Tensor((), "int64")) -> R.Tensor((2,), "float32"):
            is_zero = R.equal(k, R.const(0, "int64"))
            if is_zero:
                r = x
            else:
                less = R.subtract(k, R.const(1, "int64"))
                r = odd(less)
            return r

        @R.function
        def odd(k: R.Tensor((), "int64")) -> R.Tensor((2,), "float32"):
            is_zero = R.equal(k, R.const(0, "int64"))
            if is_zero:
                r = R.negative(x)
            else:
                less = R.subtract(k, R.const(1, "int64"))
                r = even(less)
            return r

        result = even(n)
        return result
