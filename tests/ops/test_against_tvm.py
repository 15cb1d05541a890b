"""Inferred types agree with the pinned apache-tvm, operator by operator."""

from typing import Any

import pytest

from relax_core.ir.expr import Call, Expr, ShapeType, TensorType, Type
from relax_core.ir.integer.evaluate import evaluate
from relax_core.ops.spec import Param
from tests.apache_tvm import relax, tirx, tvm
from tests.ops.cases import CASES, SIZES, Builder, Case
from tests.ops.refused import ONLY_HERE, REFUSED
from tests.ops.tvm_calls import SYMBOLS

pytestmark = pytest.mark.tvm

# The wheel's own front end refuses these: it converts bounds, or wants one bound or index at least.
_NOT_COMPARED = (
    "arange with an end only",
    "arange of floats",
    "arange downwards",
    "tensor_to_shape",
    "clip",
    "clip of integers",
)
COMPARED = tuple(case for case in CASES if str(case) not in _NOT_COMPARED)


def tvm_dims(shape: tuple[int, ...], *, is_symbolic: bool) -> list[Any]:
    return [SYMBOLS.get(size, size) if is_symbolic else size for size in shape]


def tvm_arg(param: Param, value: Any, *, is_symbolic: bool) -> Any:
    match param.kind:
        case "tuple":
            tensor = Param("item", "tensor")
            return [tvm_arg(tensor, item, is_symbolic=is_symbolic) for item in value]
        case "axes":
            return None if value is None else list(value)
        case _ if param.name == "fill_value":
            return relax.const(value)
        case _ if hasattr(value, "shape"):
            type_ = relax.TensorType(tvm_dims(value.shape, is_symbolic=is_symbolic), str(value.dtype))
            return relax.Var("x", type_)
        case "shape" | "expr":
            return relax.ShapeExpr(tvm_dims(value, is_symbolic=is_symbolic))
        case _:
            return value


def type_of_tvm(case: Case, *, is_symbolic: bool) -> Any:
    operator = relax.op
    for part in case.op.split("."):
        operator = getattr(operator, part)
    args = [tvm_arg(p, v, is_symbolic=is_symbolic) for p, v in zip(case.spec.params, case.args, strict=True)]
    call = operator(*(args if case.spec.params[-1].name != "out_dtype" or args[-1] else args[:-1]))
    return relax.BlockBuilder().normalize(call).ty


def as_ints(dims: Any) -> tuple[int, ...]:
    analyzer = tvm.sym.Analyzer()
    for size, var in SYMBOLS.items():
        analyzer.bind(var, tirx.const(size, "int64"))
    sizes: list[Any] = [analyzer.simplify(dim) for dim in dims]
    return tuple(int(size) for size in sizes)


def described_tvm(type_: Any) -> tuple[Any, ...]:
    if isinstance(type_, relax.ShapeType):
        return "shape", None if type_.values is None else as_ints(type_.values), type_.ndim
    shape = type_.shape
    dims = None if shape is None or not hasattr(shape, "values") else as_ints(shape.values)
    return (
        "tensor",
        dims,
        type_.ndim if type_.ndim >= 0 else None,
        "bool" if "bool" in str(type_.dtype) else str(type_.dtype),
    )


def described(type_: Type) -> tuple[Any, ...]:
    def sizes(dims: Any) -> Any:
        return None if dims is None else tuple(evaluate(dim, SIZES) for dim in dims)

    match type_:
        case ShapeType(values=values, ndim=ndim):
            return "shape", sizes(values), ndim
        case TensorType(dtype=dtype, ndim=ndim):
            return "tensor", sizes(type_.dims), ndim, dtype
        case _:
            pytest.fail("an operator that computes gives a tensor or a shape")


@pytest.mark.parametrize("is_symbolic", [False, True], ids=["static", "symbolic"])
@pytest.mark.parametrize("case", COMPARED, ids=str)
def test_the_inferred_type_is_that_of_tvm(case: Case, *, is_symbolic: bool) -> None:
    built = Builder(case, is_symbolic=is_symbolic)
    call: Expr = built.call
    assert isinstance(call, Call)
    ours = described(case.spec.infer(call, built.types))
    assert ours == described_tvm(type_of_tvm(case, is_symbolic=is_symbolic))


BOTH_REFUSE = tuple(case for case, _ in REFUSED if str(case) not in ONLY_HERE)


@pytest.mark.parametrize("case", BOTH_REFUSE, ids=str)
def test_what_is_refused_here_tvm_refuses_too(case: Case) -> None:
    # The wheel raises errors of several classes, some of them its own without a common base.
    with pytest.raises(Exception):  # noqa: B017, PT011
        type_of_tvm(case, is_symbolic=False)
