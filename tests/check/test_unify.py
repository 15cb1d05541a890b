"""Relations between types."""

import pytest

from relax_core.check.unify import UNKNOWN, contradiction, is_subtype, join, solve
from relax_core.ir.expr import OBJECT, VOID, FuncType, PrimType, ShapeType, TensorType, TupleType, Type
from relax_core.ir.prim import PrimVar, binary, const
from relax_core.ops.show import show_type

n, m = PrimVar("n"), PrimVar("m")
TOP = TensorType()
FLOAT = TensorType(None, "float32")
MATRIX = TensorType(None, "float32", 2)
NM = TensorType((n, m), "float32")
MN = TensorType((m, n), "float32")
STATIC = TensorType((const(2), const(3)), "float32")
INT = TensorType((const(2), const(3)), "int32")
PRODUCT = TensorType((binary("*", n, m),), "float32")
TCUDORP = TensorType((binary("*", m, n),), "float32")

CONTRADICTIONS: tuple[tuple[Type, Type, bool], ...] = (
    (NM, NM, False),
    (NM, STATIC, False),
    (STATIC, INT, True),
    (STATIC, TensorType((const(2), const(4)), "float32"), True),
    (STATIC, TensorType(None, None, 3), True),
    (TensorType((binary("+", n, const(1)),)), TensorType((n,)), True),
    (PRODUCT, TCUDORP, False),
    (OBJECT, STATIC, False),
    (STATIC, OBJECT, False),
    (PrimType("int64"), OBJECT, True),
    (PrimType("int64"), PrimType("float32"), True),
    (PrimType("int64", const(1)), PrimType("int64", const(2)), True),
    (ShapeType((n, m)), ShapeType(None, 3), True),
    (VOID, TupleType((FLOAT,)), True),
    (TupleType((INT,)), TupleType((FLOAT,)), True),
    (FuncType((NM,), FLOAT), FuncType(None, OBJECT), False),
    (FuncType((NM,), FLOAT), FuncType((NM, NM), FLOAT), True),
    (FLOAT, ShapeType(), True),
    (UNKNOWN, PrimType("int64"), False),
)
CHAINS: tuple[tuple[Type, ...], ...] = (
    (NM, MATRIX, FLOAT, TOP, OBJECT),
    (ShapeType((n, m)), ShapeType(None, 2), ShapeType(), OBJECT),
    (TupleType((NM, INT)), TupleType((MATRIX, TOP)), OBJECT),
    (FuncType((FLOAT,), NM), FuncType((NM,), MATRIX), FuncType(None, OBJECT), OBJECT),
    (PrimType("int64", n), PrimType("int64")),
)
JOINS: tuple[tuple[Type, Type, str | None], ...] = (
    (NM, NM, 'R.Tensor((n, m), dtype="float32")'),
    (NM, MN, 'R.Tensor(dtype="float32", ndim=2)'),
    (PRODUCT, TCUDORP, 'R.Tensor((n * m,), dtype="float32")'),
    (STATIC, INT, "R.Tensor((2, 3))"),
    (STATIC, ShapeType(), "R.Object"),
    (TupleType((NM, INT)), TupleType((MN, INT)), None),
    (PrimType("int64", n), PrimType("int64", m), 'R.Prim("int64")'),
    (PrimType("int64"), OBJECT, "nothing"),
    (UNKNOWN, STATIC, 'R.Tensor((2, 3), dtype="float32")'),
)


@pytest.mark.parametrize(("given", "expected", "is_contradiction"), CONTRADICTIONS)
def test_contradictions_are_proven(given: Type, expected: Type, *, is_contradiction: bool) -> None:
    assert (contradiction(given, expected) is not None) == is_contradiction


@pytest.mark.parametrize("chain", CHAINS, ids=lambda chain: show_type(chain[0]))
def test_subtypes_are_ordered(chain: tuple[Type, ...]) -> None:
    for i, narrow in enumerate(chain):
        for j, wide in enumerate(chain):
            assert is_subtype(narrow, wide) == (i <= j)


@pytest.mark.parametrize(("a", "b", "words"), JOINS)
def test_branches_join_in_either_order(a: Type, b: Type, words: str | None) -> None:
    for joined in (join(a, b), join(b, a)):
        if words == "nothing":
            assert joined is None
            continue
        assert joined is not None
        assert is_subtype(a, joined) or a is UNKNOWN
        assert is_subtype(b, joined) or b is UNKNOWN
    if words not in (None, "nothing"):
        first = join(a, b)
        assert first is not None
        assert show_type(first) == words


@pytest.mark.parametrize(
    ("a", "b", "joined"),
    [("cuda:0:global",) * 3, ("cuda:0:global", "llvm:0:global", None), ("cuda:0:global", None, None)],
)
def test_branches_on_one_device_give_a_tensor_on_it(a: str, b: str | None, joined: str | None) -> None:
    found = join(TensorType((n, m), "float32", vdevice=a), TensorType((n, m), "float32", vdevice=b))
    assert isinstance(found, TensorType)
    assert (found.ndim, found.dtype, found.vdevice) == (2, "float32", joined)


def test_a_symbol_has_the_value_of_the_first_argument_that_has_it() -> None:
    vector = TensorType((n,), "float32")
    sizes = [TensorType((const(size),), "float32") for size in (3, 4)]
    solution, wrong = solve((vector, vector), sizes, ("argument 1", "argument 2").__getitem__, set())
    assert show_type(solution.apply(NM)) == 'R.Tensor((3, m), dtype="float32")'
    assert wrong == ((1, "4 is not 3 (n is 3 from argument 1)"),)
