"""Small programs with local functions, for the tests of the passes."""

from collections.abc import Mapping
from types import MappingProxyType

NO_CAPTURE = """
    @R.function(pure=False)
    def main(x: R.Tensor((3,), "float32")):
        @R.function
        def twice(y: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
            z = R.add(y, y)
            return z

        shown = R.print(twice)
        out = twice(x)
        return (out, twice)
"""

CAPTURE = """
    @R.function(pure=False)
    def main(x: R.Tensor((3,), "float32")):
        @R.function
        def scaled(y: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
            z = R.multiply(x, y)
            return z

        shown = R.print(scaled)
        out = scaled(x)
        return out
"""

CAPTURED_DIMENSION = """
    @R.function
    def main(x: R.Tensor(("n", "m"), "float32")):
        n = T.int64()
        m = T.int64()

        @R.function
        def filled(c: R.Tensor((), "float32")):
            z = R.full(R.shape([n, m]), c, dtype="float32")
            return z

        @R.function
        def shifted(c: R.Tensor((), "float32")):
            z = R.add(x, c)
            w = R.reshape(z, R.shape([n * m]))
            return w

        a = filled(R.const(2.0, "float32"))
        b = shifted(R.const(1.0, "float32"))
        return (a, b)
"""

DIMENSION_IN_RECURSION = """
    @R.function
    def main(x: R.Tensor(("n",), "float32"), k: R.Tensor((), "int64")) -> R.Tensor(("n",), "float32"):
        n = T.int64()

        @R.function
        def ones(i: R.Tensor((), "int64")) -> R.Tensor((n,), "float32"):
            is_done = R.less_equal(i, R.const(0, "int64"))
            if is_done:
                r = R.zeros(R.shape([n]), dtype="float32")
            else:
                less = R.subtract(i, R.const(1, "int64"))
                r = more(less)
            return r

        @R.function
        def more(i: R.Tensor((), "int64")) -> R.Tensor((n,), "float32"):
            rest = ones(i)
            r = R.add(rest, R.const(1.0, "float32"))
            return r

        total = ones(k)
        out = R.add(total, x)
        return out
"""

RECURSION = """
    @R.function
    def main(n: R.Tensor((), "int64"), x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        @R.function
        def down(k: R.Tensor((), "int64")) -> R.Tensor((2,), "float32"):
            is_done = R.less_equal(k, R.const(0, "int64"))
            if is_done:
                r = x
            else:
                less = R.subtract(k, R.const(1, "int64"))
                rest = down(less)
                r = R.add(rest, x)
            return r

        result = down(n)
        return result
"""

MUTUAL_RECURSION = """
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
"""

NESTED_LAMBDAS = """
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        @R.function
        def outer(y: R.Tensor((2,), "float32")):
            @R.function
            def inner(z: R.Tensor((2,), "float32")):
                xy = R.add(x, y)
                w = R.multiply(xy, z)
                return w

            v = inner(y)
            return v

        out = outer(x)
        return out
"""

RETURNED_CLOSURE = """
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        @R.function
        def make(y: R.Tensor((2,), "float32")):
            @R.function
            def add(z: R.Tensor((2,), "float32")):
                w = R.add(y, z)
                return w

            return add

        f = make(x)
        out = f(x)
        return out
"""

IN_TUPLE_AND_BRANCH = """
    @R.function
    def main(x: R.Tensor((2,), "float32"), c: R.Tensor((), "bool")):
        @R.function
        def keep(y: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
            z = R.add(x, y)
            return z

        @R.function
        def turn(y: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
            z = R.negative(y)
            return z

        pair = (keep, turn)
        if c:
            f = pair[0]
        else:
            f = turn
        out = f(x)
        return out
"""

CLOSURES: Mapping[str, str] = MappingProxyType(
    {
        "no_capture": NO_CAPTURE,
        "capture": CAPTURE,
        "captured_dimension": CAPTURED_DIMENSION,
        "dimension_in_recursion": DIMENSION_IN_RECURSION,
        "recursion": RECURSION,
        "mutual_recursion": MUTUAL_RECURSION,
        "nested_lambdas": NESTED_LAMBDAS,
        "returned_closure": RETURNED_CLOSURE,
        "in_tuple_and_branch": IN_TUPLE_AND_BRANCH,
    }
)
