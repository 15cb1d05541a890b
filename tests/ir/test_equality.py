"""Structural equality and hash: renaming, first difference, types."""

import numpy as np
import pytest

from relax_core.ir.equality import first_difference, same_type, structural_equal, structural_hash
from relax_core.ir.expr import (
    OBJECT,
    VOID,
    BindingBlock,
    Call,
    Constant,
    DataflowVar,
    Expr,
    Function,
    FuncType,
    GlobalVar,
    MatchCast,
    Op,
    PrimType,
    SeqExpr,
    ShapeType,
    TensorType,
    TupleType,
    Type,
    Var,
    VarBinding,
)
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.prim import FloatImm, PrimVar, binary


def _module(x: str = "x", y: str = "y", op: str = "relax.add", dim: str = "n", *, swap: bool = False) -> IRModule:
    n = PrimVar(dim)
    a, b = Var(x, TensorType((n,), "float32")), Var(y, TensorType((n,), "float32"))
    z = Var("z")
    args: tuple[Expr, ...] = (b, a) if swap else (a, b)
    body = SeqExpr((BindingBlock((VarBinding(z, Call(Op(op), args)),)),), z)
    return IRModule((Definition(GlobalVar("main"), Function((a, b), body)),))


def test_renaming_variables_and_dimensions_keeps_equality() -> None:
    assert structural_equal(_module(), _module("a", "b", dim="k"))
    assert structural_hash(_module()) == structural_hash(_module("a", "b", dim="k"))


@pytest.mark.parametrize(
    ("other", "path"),
    [
        pytest.param(_module(op="relax.subtract"), "@main.body.blocks[0].bindings[0].value.op.name", id="operator"),
        pytest.param(_module(swap=True), "@main.body.blocks[0].bindings[0].value.args[0]", id="swapped arguments"),
    ],
)
def test_the_first_difference_is_a_readable_path(other: IRModule, path: str) -> None:
    difference = first_difference(_module(), other)
    assert difference is not None
    assert difference.path == path
    assert structural_hash(_module()) != structural_hash(other)


def test_a_dataflow_variable_is_not_a_variable() -> None:
    x = Var("x")
    plain = SeqExpr((BindingBlock((VarBinding(Var("y"), x),)),), x)
    dataflow = SeqExpr((BindingBlock((VarBinding(DataflowVar("y"), x),)),), x)
    assert not structural_equal(plain, dataflow)


def test_functions_of_parameters_of_other_types_are_others() -> None:
    def make(type_: Type | None) -> Function:
        x = Var("x", type_)
        return Function((x,), x)

    kinds = (TensorType((PrimVar("n"),), "float32"), TensorType((), "float32"), TensorType((), "int32"), OBJECT, None)
    assert len({structural_hash(make(item)) for item in kinds}) == len(kinds)
    assert structural_hash(make(kinds[0])) == structural_hash(make(TensorType((PrimVar("m"),), "float32")))


def test_annotations_of_let_variables_count_only_when_strict() -> None:
    def make(annotation: Type | None) -> SeqExpr:
        x, y = Var("x"), Var("y", annotation)
        return SeqExpr((BindingBlock((VarBinding(y, x),)),), y)

    assert structural_equal(make(None), make(OBJECT))
    assert structural_hash(make(None)) == structural_hash(make(OBJECT))
    assert not structural_equal(make(None), make(OBJECT), strict=True)


def test_annotations_of_cast_variables_count_only_when_strict() -> None:
    def make(annotation: Type | None, cast: Type = OBJECT) -> SeqExpr:
        x, y = Var("x"), Var("y", annotation)
        return SeqExpr((BindingBlock((MatchCast(y, x, cast),)),), y)

    assert structural_equal(make(None), make(OBJECT))
    assert not structural_equal(make(None), make(OBJECT), strict=True)
    assert not structural_equal(make(OBJECT), make(OBJECT, VOID))


def test_constants_compare_by_bits() -> None:
    assert structural_equal(Constant(np.array([np.nan], np.float32)), Constant(np.array([np.nan], np.float32)))
    assert not structural_equal(Constant(np.array([0.0], np.float32)), Constant(np.array([-0.0], np.float32)))
    assert not structural_equal(FloatImm(0.0), FloatImm(-0.0))


def test_types_are_equal_if_their_dimensions_are_provably_equal() -> None:
    n, m = PrimVar("n"), PrimVar("m")
    assert same_type(TensorType((binary("*", n, m),), "float32"), TensorType((binary("*", m, n),), "float32"))
    assert not same_type(TensorType((n,), "float32"), TensorType((m,), "float32"))
    assert not same_type(TensorType((n,), "float32"), TensorType(None, "float32", ndim=1))
    assert same_type(FuncType((OBJECT,), VOID), FuncType((OBJECT,), TupleType()))
    assert not same_type(PrimType("int64"), PrimType("bool"))
    assert same_type(ShapeType((n,)), ShapeType((n,)))


def test_deep_programs_compare_without_recursion() -> None:
    def chain(length: int) -> SeqExpr:
        current = first = Var("x")
        bindings: list[VarBinding] = []
        for _ in range(length):
            following = Var("x")
            bindings.append(VarBinding(following, Call(Op("relax.exp"), (current,))))
            current = following
        return SeqExpr((BindingBlock(tuple(bindings)),), Call(Op("relax.add"), (current, first)))

    assert structural_equal(chain(20_000), chain(20_000))
    assert structural_hash(chain(5_000)) != structural_hash(chain(5_001))
