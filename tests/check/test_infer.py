"""Types of whole programs: symbolic shapes, calls, closures, branches, recursion, and size."""

import pytest

from relax_core.check.infer import infer
from relax_core.ir.expr import BindingBlock, Call, Function, GlobalVar, Op, SeqExpr, TensorType, Var, VarBinding
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.prim import const
from tests.check.programs import module_of, types_by_name

PROGRAMS = (
    (
        "a product of matrices has the outer symbols",
        """
    @R.function
    def main(x: R.Tensor(("n", "k"), "float32"), w: R.Tensor(("k", "m"), "float32")):
        y = R.matmul(x, w)
        z = R.flatten(y)
        return z
""",
        {"y": 'R.Tensor((n, m), dtype="float32")', "z": 'R.Tensor((n * m,), dtype="float32")'},
    ),
    (
        "a match_cast binds symbols, which end with the function",
        """
    @R.function
    def main(x: R.Tensor(ndim=2, dtype="float32")):
        n = T.int64()
        m = T.int64()
        y = R.match_cast(x, R.Tensor((n, m), "float32"))
        z = R.permute_dims(y)
        return z
""",
        {
            "z": 'R.Tensor((m, n), dtype="float32")',
            "main": 'R.Callable((R.Tensor(dtype="float32", ndim=2),), R.Tensor(dtype="float32", ndim=2))',
        },
    ),
    (
        "a call puts the caller's sizes into the callee's result",
        """
    @R.function
    def double(a: R.Tensor(("n", "m"), "float32")):
        b = R.concat((a, a), axis=1)
        return b

    @R.function
    def main(x: R.Tensor((2, "k"), "float32")):
        cls = Module
        y = cls.double(x)
        return y
""",
        {"y": 'R.Tensor((2, k * 2), dtype="float32")'},
    ),
    (
        "tuples, fields and shapes",
        """
    @R.function
    def main(x: R.Tensor(("n", 3), "float32")):
        t = (x, R.shape([1, 2]))
        a = t[0]
        s = R.shape_of(a)
        b = R.zeros(s, "int32")
        return b
""",
        {"s": "R.Shape([n, 3])", "b": 'R.Tensor((n, 3), dtype="int32")'},
    ),
    (
        "branches share what both have",
        """
    @R.function
    def main(c: R.Tensor((), "bool"), x: R.Tensor((2, 3), "float32"), y: R.Tensor((2, 4), "float32")):
        if c:
            z = R.exp(x)
        else:
            z = R.exp(y)
        return z
""",
        {"z": 'R.Tensor(dtype="float32", ndim=2)'},
    ),
    (
        "a local function is a callable, and its call has its result",
        """
    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        @R.function
        def f(a: R.Tensor(("m",), "float32")):
            return R.add(a, a)

        y = f(x)
        return y
""",
        {
            "f": 'R.Callable((R.Tensor((m,), dtype="float32"),), R.Tensor((m,), dtype="float32"))',
            "y": 'R.Tensor((n,), dtype="float32")',
        },
    ),
    (
        "a global without declared result that calls itself",
        """
    @R.function
    def main(c: R.Tensor((), "bool"), x: R.Tensor(("n",), "float32")):
        cls = Module
        if c:
            y = cls.main(c, x)
        else:
            y = R.exp(x)
        return y
""",
        {"y": 'R.Tensor((n,), dtype="float32")'},
    ),
    (
        "two globals without declared results that call each other",
        """
    @R.function
    def even(c: R.Tensor((), "bool"), x: R.Tensor((3,), "float32")):
        cls = Module
        if c:
            y = cls.odd(c, x)
        else:
            y = x
        return y

    @R.function
    def odd(c: R.Tensor((), "bool"), x: R.Tensor((3,), "float32")):
        cls = Module
        z = cls.even(c, x)
        return z
""",
        {"z": 'R.Tensor((3,), dtype="float32")'},
    ),
    (
        "a callable parameter, a global as value, and a packed function",
        """
    @R.function
    def negate(a: R.Tensor((3,), "float32")):
        return R.negative(a)

    @R.function(pure=False)
    def main(x: R.Tensor((3,), "float32")):
        cls = Module
        f = cls.negate
        y = f(x)
        p = R.call_packed("custom_add", x, x)
        return y
""",
        {"y": 'R.Tensor((3,), dtype="float32")', "p": "R.Object"},
    ),
    (
        "a closure knows the function's remaining parameters",
        """
    @R.function
    def add(a: R.Tensor(("n",), "float32"), b: R.Tensor(("n",), "float32")):
        return R.add(a, b)

    @R.function
    def main(x: R.Tensor((3,), "float32")):
        cls = Module
        c = R.make_closure(cls.add, (x,))
        return c
""",
        {"c": 'R.Callable((R.Tensor((3,), dtype="float32"),), R.Tensor((3,), dtype="float32"))'},
    ),
    (
        "the declared type wins over a wider one",
        """
    @R.function
    def main(x: R.Tensor(dtype="float32", ndim=2)):
        y: R.Tensor((2, 3), "float32") = R.exp(x)
        return y
""",
        {"y": 'R.Tensor((2, 3), dtype="float32")'},
    ),
)


@pytest.mark.parametrize(("body", "expected"), [item[1:] for item in PROGRAMS], ids=[item[0] for item in PROGRAMS])
def test_types_of_a_program(body: str, expected: dict[str, str]) -> None:
    module = module_of(body)
    assert infer(module).diagnostics == ()
    types = types_by_name(module)
    assert {name: types[name] for name in expected} == expected


def chain(count: int, *, is_nested: bool) -> IRModule:
    """Make a function of `count` calls of exp, bound one by one or nested."""
    x = Var("x", TensorType((const(2),), "float32"))
    value = Call(Op("relax.exp"), (x,))
    bindings = [VarBinding(Var("v"), value)]
    for k in range(count - 1):
        value = Call(Op("relax.exp"), (value if is_nested else bindings[-1].var,))
        if not is_nested:
            bindings.append(VarBinding(Var(f"v{k}"), value))
    body = value if is_nested else SeqExpr((BindingBlock(tuple(bindings)),), bindings[-1].var)
    return IRModule((Definition(GlobalVar("main"), Function((x,), body)),))


@pytest.mark.parametrize("is_nested", [False, True], ids=["bound", "nested"])
def test_long_programs_are_typed_without_recursion(*, is_nested: bool) -> None:
    module = chain(50_000, is_nested=is_nested)
    inference = infer(module)
    assert inference.diagnostics == ()
    assert len(inference.types) > 50_000


SCALARS = """
    @T.prim_func(private=True)
    def fill(n: T.int64, var_out: T.handle):
        m = T.int64()
        out = T.match_buffer(var_out, (n * 2, m), "float32")
        for i, j in T.grid(n * 2, m):
            with T.sblock("fill"):
                v_i, v_j = T.axis.remap("SS", [i, j])
                out[v_i, v_j] = T.float32(0.0)

    @R.function
    def main(x: R.Tensor(("k", 3), "float32")):
        k = T.int64()
        cls = Module
        y = R.call_tir(cls.fill, (R.prim_value(k),), out_ty=R.Tensor((k * 2, 3), "float32"))
        z = R.call_tir(cls.fill, (R.prim_value(k),), out_ty=R.Tensor((k * 2 + 1, 3), "float32"))
        return (y, z)
"""


def test_a_scalar_parameter_gives_its_symbol_a_value() -> None:
    diagnostics = infer(module_of(SCALARS)).diagnostics
    assert [item.code for item in diagnostics] == ["TY029"]
    assert "n is k from input 1" in diagnostics[0].message
