# title: A global function as a value
# shows: a function of the module bound, called, put in a tuple, passed, printed, chosen by `if`, returned
# source: RelaxScope
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def double(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        y = R.add(x, x)
        return y

    @R.function
    def negate(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        y = R.negative(x)
        return y

    @R.function
    def apply(
        f: R.Callable((R.Tensor((3,), "float32"),), R.Tensor((3,), "float32")), x: R.Tensor((3,), "float32")
    ) -> R.Tensor((3,), "float32"):
        y = f(x)
        return y

    @R.function(pure=False)
    def main(x: R.Tensor((3,), "float32"), c: R.Tensor((), "bool")):
        cls = Module
        bound = cls.double
        called = bound(x)
        pair = (bound, x)
        first = pair[0]
        from_tuple = first(x)
        passed = cls.apply(bound, x)
        packed = R.call_packed("custom_apply", bound, x, ty_args=R.Tensor((3,), "float32"))
        shown = R.print(bound)
        if c:
            chosen = bound
        else:
            chosen = cls.negate
        from_if = chosen(x)
        return (called, from_tuple, passed, packed, from_if, bound)
