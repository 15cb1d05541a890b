"""The types of Relax values (2023's StructInfo; both spellings are read).

Types are plain values. Dimensions are scalar expressions, which compare by identity, so two types are
compared with `relax_core.ir.equality.same_type`, never with `==`.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from relax_core.ir.prim import PrimExpr
from relax_core.ir.slots import set_by_slots

if TYPE_CHECKING:
    from relax_core.ir.expr import Var

Dims: TypeAlias = tuple[PrimExpr, ...]


@set_by_slots
@dataclass(frozen=True, slots=True, eq=False)
class TensorType:
    """An n-dimensional array.

    `shape` is a tuple of dimensions, a Relax variable of shape type, or `None` if unknown; `ndim` is `None`
    if the rank is unknown, and agrees with `shape`; `dtype` is `None` if unknown. `vdevice` is "kind:index:scope".
    `sharding` is the device mesh and the placement of a distributed tensor: `("mesh[0]", "S[0], R")`.
    """

    shape: "Dims | Var | None" = None
    dtype: str | None = None
    ndim: int | None = None
    vdevice: str | None = None
    sharding: tuple[str, str] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.shape, tuple):
            assert self.ndim in (None, len(self.shape)), "ndim disagrees with shape"
            object.__setattr__(self, "ndim", len(self.shape))

    @property
    def dims(self) -> Dims | None:
        """The dimensions if they are known one by one, else `None`."""
        return self.shape if isinstance(self.shape, tuple) else None


@set_by_slots
@dataclass(frozen=True, slots=True, eq=False)
class ShapeType:
    """A shape as a value. `values` are its dimensions if known; `ndim` is `None` if the rank is unknown."""

    values: Dims | None = None
    ndim: int | None = None

    def __post_init__(self) -> None:
        if self.values is not None:
            object.__setattr__(self, "ndim", len(self.values))


@set_by_slots
@dataclass(frozen=True, slots=True, eq=False)
class PrimType:
    """A scalar on the host. `value` is the expression that it is known to equal, if any.

    `dtype` is "int64", "float32", "bool", "string", ... Not a subtype of `ObjectType`.
    """

    dtype: str
    value: PrimExpr | None = None


@set_by_slots
@dataclass(frozen=True, slots=True, eq=False)
class TupleType:
    """A tuple; with no fields it is the type of a call that returns nothing."""

    fields: tuple["Type", ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class FuncType:
    """A callable. `params` is `None` if they are unknown (`R.Callable`); `is_pure` is a promise.

    `type_params` are the type variables over which it is polymorphic (Relay).
    """

    params: tuple["Type", ...] | None
    ret: "Type"
    is_pure: bool = True
    type_params: "tuple[TypeVar, ...]" = ()


@dataclass(frozen=True, slots=True, eq=False)
class ObjectType:
    """Any run-time object: the top of all types but `PrimType`."""


@dataclass(frozen=True, slots=True, eq=False)
class AdtType:
    """An algebraic data type applied to arguments (Relay)."""

    name: str
    args: tuple["Type", ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class TypeVar:
    """A type variable of a polymorphic function (Relay). Compared by identity."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class RefType:
    """A mutable reference (Relay)."""

    value: "Type"


Type: TypeAlias = TensorType | ShapeType | PrimType | TupleType | FuncType | ObjectType | AdtType | TypeVar | RefType

VOID = TupleType(())
OBJECT = ObjectType()
