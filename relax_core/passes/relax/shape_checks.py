"""What is left to check when the program runs: which types are proven, and which dimensions are compared."""

from dataclasses import dataclass

from relax_core.ir.expr import Expr, FuncType, PrimType, ShapeType, TensorType, TupleType, Type
from relax_core.ir.integer.prove import prove_equal
from relax_core.ir.node import Node
from relax_core.ir.prim import PrimExpr
from relax_core.passes.relax.functions import integer


@dataclass(frozen=True, slots=True)
class Match:
    """A value whose dimensions are compared with those of a type; `node` is what asks for it."""

    value: Expr
    dims: tuple[PrimExpr, ...]
    error: str
    node: Node
    builtin: str = "vm.builtin.match_shape"


@dataclass(frozen=True, slots=True)
class Demand:
    """What is checked, in the words of the failure, at which node; `matches` collects dimensions to compare."""

    error: str
    node: Node
    matches: list[Match]

    def add(
        self,
        value: Expr,
        dims: tuple[PrimExpr, ...],
        known: tuple[PrimExpr, ...] | None,
        builtin: str = "vm.builtin.match_shape",
    ) -> None:
        """Compare the dimensions of `value`, unless those that are known are the same."""
        if not are_equal(dims, known):
            self.matches.append(Match(value, dims, self.error, self.node, builtin))


def rank_argument(ndim: int | None) -> Expr:
    """Return the operand that stands for a rank; -1 is any."""
    return integer(-1 if ndim is None else ndim)


def is_tensor_proven(actual: Type | None, wanted: TensorType) -> bool:
    """Tell whether a value of type `actual` is a tensor of the rank and dtype of `wanted`."""
    return (
        isinstance(actual, TensorType) and wanted.ndim in (None, actual.ndim) and wanted.dtype in (None, actual.dtype)
    )


def are_equal(dims: tuple[PrimExpr, ...], known: tuple[PrimExpr, ...] | None) -> bool:
    """Tell whether dimensions are known and provably equal."""
    return (
        known is not None
        and len(dims) == len(known)
        and all(prove_equal(a, b) for a, b in zip(dims, known, strict=True))
    )


def needs_check(type_: Type, actual: Type | None) -> bool:
    """Tell whether a field has anything to check."""
    match type_:
        case TensorType(shape=dims):
            known = actual.dims if isinstance(actual, TensorType) else None
            has_dims = isinstance(dims, tuple) and not are_equal(dims, known)
            return has_dims or not is_tensor_proven(actual, type_)
        case FuncType():
            return not isinstance(actual, FuncType)
        case TupleType(fields=fields):
            known_fields = actual.fields if isinstance(actual, TupleType) else (None,) * len(fields)
            return actual is None or any(map(needs_check, fields, known_fields))
        case ShapeType() | PrimType():
            return True
        case _:
            return False
