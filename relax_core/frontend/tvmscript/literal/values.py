"""What an expression of the text may be before its place says which node it becomes."""

from dataclasses import dataclass
from typing import TypeAlias

from relax_core.ir.expr import Expr, Type
from relax_core.ir.prim import PrimExpr
from relax_core.ir.slots import set_by_slots
from relax_core.source import Span


@set_by_slots
@dataclass(frozen=True, slots=True)
class Literal:
    """A bare literal: a host scalar, a rank-0 tensor, or an absent value."""

    value: bool | int | float | str | None
    span: Span


@set_by_slots
@dataclass(frozen=True, slots=True)
class Items:
    """A tuple or list display: a tuple, a shape, or a list of axes."""

    values: tuple["Value", ...]
    span: Span


@set_by_slots
@dataclass(frozen=True, slots=True)
class TypeValue:
    """A type where a value may stand, such as `out_ty=R.Tensor(...)`."""

    type: Type
    span: Span


Value: TypeAlias = Expr | PrimExpr | Literal | Items | TypeValue
