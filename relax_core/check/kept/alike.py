"""Calls that are alike are typed once: layers of a network repeat the same operators on the same types.

Two calls are alike if they call the same operator, prim func or packed function, and whatever the rule of that can
read is equal: the types of variables, and literals. Dimensions that are no integers are compared by identity.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

from relax_core.ir.expr import (
    Call,
    DataTypeImm,
    Expr,
    GlobalVar,
    ObjectType,
    PrimType,
    PrimValue,
    ShapeExpr,
    ShapeType,
    TensorType,
    Tuple,
    TupleType,
    Type,
    Var,
)
from relax_core.ir.prim import IntImm, PrimExpr, StringImm

Key = tuple[Hashable, ...]

_ON_SURROUNDINGS = ("relax.make_closure", "relax.invoke_closure", "relax.invoke_pure_closure")
"""Operators whose result depends on the symbols around the call."""


@dataclass(slots=True)
class AlikeCalls:
    """The types of calls by what they follow from, and a number for each type, the same for those that are equal."""

    type_of: dict[Key, Type] = field(default_factory=dict[Key, Type])
    _number_of: dict[Type, int | None] = field(default_factory=dict["Type", "int | None"])
    _numbers: dict[Hashable, int] = field(default_factory=dict[Hashable, int])

    def key(
        self, call: Call, head: Hashable, arg_types: tuple[Type, ...], globals_: Mapping[str, object]
    ) -> Key | None:
        """Return what the type of `call` follows from; `None` if that may be something else.

        `head` is what is called, and `globals_` says what each global of the module is.
        """
        if call.attrs or head in _ON_SURROUNDINGS:
            return None
        found: list[Hashable] = [head]
        for type_ in call.type_args:
            found.append(self._number(type_))
        for arg, type_ in zip(call.args, arg_types, strict=True):
            found.append(self._part(arg, type_, globals_))
        return None if None in found else tuple(found)

    def _part(self, arg: Expr, type_: Type, globals_: Mapping[str, object]) -> Hashable:
        match arg:
            case Var():
                return self._number(type_)
            case PrimValue(value=value):
                return _scalars((value,))
            case ShapeExpr(values=values):
                return (ShapeExpr, _scalars(values))
            case Tuple(fields=fields) if isinstance(type_, TupleType) and len(fields) == len(type_.fields):
                parts = tuple(self._part(*pair, globals_) for pair in zip(fields, type_.fields, strict=True))
                return None if None in parts else (Tuple, *parts)
            case DataTypeImm(value=value):
                return value
            case GlobalVar(name=name):
                return globals_.get(name)
            case _:
                return arg

    def _number(self, type_: Type) -> int | None:
        try:
            return self._number_of[type_]
        except KeyError:
            key = self._structure(type_)
            found = None if key is None else self._numbers.setdefault(key, len(self._numbers))
            self._number_of[type_] = found
            return found

    def _structure(self, type_: Type) -> Hashable:
        """Return what is equal for equal types; `None` for one that may name a variable."""
        match type_:
            case TensorType(shape=None | tuple() as shape):
                return (TensorType, _scalars(shape), type_.dtype, type_.ndim, type_.vdevice, type_.sharding)
            case ShapeType(values=values, ndim=ndim):
                return (ShapeType, _scalars(values), ndim)
            case PrimType(dtype=dtype, value=value):
                return (PrimType, dtype, None if value is None else _scalars((value,)))
            case TupleType(fields=fields):
                numbers = tuple(map(self._number, fields))
                return None if None in numbers else (TupleType, numbers)
            case ObjectType():
                # The one of what is already reported is another.
                return type_
            case _:
                return None


def _scalars(values: tuple[PrimExpr, ...] | None) -> Hashable:
    if values is None:
        return None
    return tuple([_scalar(item) for item in values])


def _scalar(value: PrimExpr) -> Hashable:
    if type(value) is IntImm:
        return (value.dtype, value.value)
    return (StringImm, value.value) if type(value) is StringImm else value
