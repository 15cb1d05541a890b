"""One Relax program in the text that both compilers read."""

from collections.abc import Mapping
from types import MappingProxyType

HEAD = """
from tvm.script import ir as I, relax as R, tirx as T


@I.ir_module
class Module:
"""

LISTINGS: Mapping[str, str] = MappingProxyType(
    {
        "a tuple and its field": """
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((2, 3), "float32")):
        t = (x, y)
        u = t[1]
        v = (u, R.const(2.5, "float32"), t)
        return v
""",
        "a branch with a call in each": """
    @R.function(pure=False)
    def main(x: R.Tensor((3,), "float32"), c: R.Tensor((), "bool")):
        if c:
            a = R.call_packed("f", x, ty_args=R.Tensor((3,), "float32"))
            b = R.call_packed("g", a, ty_args=R.Tensor((3,), "float32"))
        else:
            b = R.call_packed("h", x, ty_args=R.Tensor((3,), "float32"))
        return b
""",
        "constants of every kind": """
    @R.function(pure=False)
    def main(x: R.Tensor((3,), "float32")):
        a = R.call_packed("f", x, R.prim_value(3), R.str("text"), ty_args=R.Tensor((3,), "float32"))
        b = R.call_packed("g", a, R.dtype("int8"), R.shape([1, 2]), ty_args=R.Tensor((3,), "float32"))
        c = R.call_packed("f", b, R.prim_value(-4), R.str("text"), ty_args=R.Tensor((3,), "float32"))
        d = R.call_packed("g", c, R.dtype("int8"), R.shape([2, 1]), ty_args=R.Tensor((3,), "float32"))
        return d
""",
        "calls between functions": """
    @R.function
    def first(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        return x

    @R.function
    def second(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        y: R.Tensor((3,), "float32") = Module.first(x)
        z: R.Tensor((3,), "float32") = Module.first(y)
        return z
""",
        "symbolic shapes": """
    @R.function(pure=False)
    def main(x: R.Tensor(("n", 4), "float32"), s: R.Shape(["n", 2])):
        n = T.int64()
        a = R.call_packed("f", x, R.shape([n, n * 2]), ty_args=R.Tensor((n, 4), "float32"))
        return a
""",
        "checks of every kind of parameter": """
    @R.function
    def main(
        x: R.Tensor,
        y: R.Tensor(ndim=2, dtype="int32"),
        s: R.Shape([3, 2]),
        p: R.Prim("int64"),
        t: R.Tuple(R.Tensor((3,), "int32"), R.Callable),
    ):
        return y
""",
        "a parameter that is called": """
    @R.function
    def main(f: R.Callable((R.Tensor((3,), "float32"),), R.Tensor((3,), "float32")), x: R.Tensor((3,), "float32")):
        y = f(x)
        z = f(y)
        return z
""",
    }
)


def source(name: str) -> str:
    """Return the text of a program."""
    return HEAD + LISTINGS[name]
