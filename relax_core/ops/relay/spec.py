"""What an operator of Relay is: its parameters, its attributes, and the relation between the types of its arguments."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias, cast

import numpy as np

from relax_core.ir.absent import has_data
from relax_core.ir.attrs import AttrValue
from relax_core.ir.expr import Constant, Dims, Expr, TensorType, TupleType, Type
from relax_core.ops.relay.show import show_type
from relax_core.ops.spec import REQUIRED, Absence, OpTypeError

AttrDefault: TypeAlias = "Absence | AttrValue"
TUNED: Mapping[str, AttrDefault] = MappingProxyType(
    {"auto_scheduler_rewritten_layout": "", "meta_schedule_original_shape": None}
)
"""What TVM's tuning leaves at an operator that has a weight."""


@dataclass(frozen=True, slots=True)
class Attr:
    """An attribute of an operator; without a default a call must give it."""

    name: str
    default: AttrDefault = REQUIRED


@dataclass(frozen=True, slots=True)
class RelayCall:
    """What a relation sees of a call: the types of the arguments, and the attributes with their defaults.

    `exprs` are the arguments; there are none if the operator is passed as a function.
    """

    name: str
    args: tuple[Type, ...]
    attrs: Mapping[str, AttrValue]
    exprs: tuple[Expr, ...] = ()

    def refuse(self, message: str, hint: str = "", code: str = "RY009") -> OpTypeError:
        """Return the error that says why the call has no type."""
        return OpTypeError(code, f"`{self.name}` {message}", hint)

    def tensor(self, index: int = 0) -> TensorType:
        """Return the type of the argument at `index`, which must be a tensor."""
        return self.as_tensor(self.args[index], f"argument {index + 1}")

    def as_tensor(self, type_: Type, what: str) -> TensorType:
        """Return `type_` if it is that of a tensor."""
        if isinstance(type_, TensorType):
            return type_
        raise self.refuse(
            f"expects a tensor as {what}, got {show_type(type_)}", _TAKE_FIELD if isinstance(type_, TupleType) else ""
        )

    def dims(self, index: int = 0) -> Dims | None:
        """Return the sizes of the tensor at `index`; `None` if its rank is unknown."""
        return self.tensor(index).dims

    def tensors(self, index: int = 0) -> tuple[TensorType, ...]:
        """Return the fields of the argument at `index`, a tuple of tensors."""
        type_ = self.args[index]
        if not isinstance(type_, TupleType):
            raise self.refuse(f"expects a tuple of tensors as argument {index + 1}, got {show_type(type_)}")
        return tuple(self.as_tensor(item, f"field {k} of its tuple") for k, item in enumerate(type_.fields))

    def has(self, name: str) -> bool:
        """Tell whether the attribute is there and not None or empty."""
        return self.attrs.get(name) not in (None, "", ())

    def int_(self, name: str) -> int:
        """Return an attribute that is an integer."""
        value = self.attrs.get(name)
        if isinstance(value, int):
            return int(value)
        raise self._wrong(name, "an integer")

    def positive(self, name: str) -> int:
        """Return an attribute that is an integer of at least one."""
        value = self.int_(name)
        if value < 1:
            raise self.refuse(f"expects a positive integer as `{name}`, got {value}", code="RY010")
        return value

    def flag(self, name: str) -> bool:
        """Return an attribute that is a truth value, printed as such or as 0 and 1."""
        return bool(self.attrs.get(name))

    def number(self, name: str) -> float:
        """Return an attribute that is a number."""
        value = self.attrs.get(name)
        if isinstance(value, int | float):
            return float(value)
        raise self._wrong(name, "a number")

    def text(self, name: str) -> str:
        """Return an attribute that is a string; the empty string if it is absent."""
        value = self.attrs.get(name)
        if value is None or isinstance(value, str):
            return value or ""
        raise self._wrong(name, "a string")

    def dtype(self, name: str = "dtype") -> str:
        """Return a dtype; the empty string if it is absent or "void"."""
        value = self.text(name)
        return "" if value == "void" else value

    def ints(self, name: str) -> tuple[int, ...]:
        """Return an attribute that is a list of integers; one integer is a list of one."""
        value = self.attrs.get(name)
        if isinstance(value, int):
            return (int(value),)
        if isinstance(value, tuple) and all(isinstance(item, int) for item in value):
            return cast("tuple[int, ...]", value)
        raise self._wrong(name, "a list of integers")

    def pairs(self, name: str) -> tuple[tuple[int, int], ...]:
        """Return an attribute that is a list of pairs of integers."""
        value = self.attrs.get(name)
        if isinstance(value, tuple) and all(isinstance(item, tuple) and len(item) == 2 for item in value):
            return cast("tuple[tuple[int, int], ...]", value)
        raise self._wrong(name, "a list of pairs of integers")

    def constant(self, index: int) -> tuple[int | float, ...] | None:
        """Return the elements of the argument at `index` if it is a literal whose data is known."""
        if index < len(self.exprs):
            expr = self.exprs[index]
            if isinstance(expr, Constant) and has_data(expr):
                return tuple(cast("list[int | float]", np.asarray(expr.data).ravel().tolist()))
        return None

    def _wrong(self, name: str, expected: str) -> OpTypeError:
        value = self.attrs.get(name)
        found = "none is given" if value is None else f"got {value!r}"
        return self.refuse(f"expects {expected} as `{name}`, {found}", code="RY010")


_TAKE_FIELD = "take one field of the tuple, such as `%x.0`"

Relation: TypeAlias = Callable[[RelayCall], Type]
Expects: TypeAlias = Callable[[RelayCall], tuple[Type | None, ...]]
Rule: TypeAlias = Callable[[RelayCall], Expr]
Check: TypeAlias = Callable[[RelayCall], None]


@dataclass(frozen=True, slots=True)
class RelayOp:
    """An operator of Relay.

    `rule` gives the expression of Relax that computes a call; without one `why` says what becomes of it. `relax` are
    the operators of Relax that do the same, the first of which is the one of the same kind.

    `relation` gives the type of a call whose argument types are known; `None` if no rule is known. With
    `is_identity` the result is the first argument, of whatever type. `expects` gives the types that the first
    argument implies for the others. A call must give the attributes that are `required`. Of the parameters the last
    `optional_count` may be left out.
    """

    name: str
    params: tuple[str, ...]
    rule: Rule | None = None
    attrs: tuple[Attr, ...] = ()
    relax: tuple[str, ...] = ()
    why: str = ""
    relation: Relation | None = None
    expects: Expects | None = None
    optional_count: int = 0
    is_identity: bool = False
    required: tuple[str, ...] = ()

    def with_defaults(self, given: Mapping[str, AttrValue]) -> Mapping[str, AttrValue]:
        """Return the attributes of a call: those given, and the defaults of the others."""
        values: dict[str, AttrValue] = {
            item.name: item.default for item in self.attrs if not isinstance(item.default, Absence)
        }
        return {**values, **given}

    def missing(self, given: Mapping[str, AttrValue]) -> tuple[str, ...]:
        """Return the attributes that a call must give and does not."""
        return tuple([name for name in self.required if name not in given])
