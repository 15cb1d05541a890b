"""Calls of operators whose types follow from the same: operator, attributes, argument types and literals."""

from dataclasses import dataclass, field

from relax_core.ir.expr import Call, Constant, Op, TensorType, TupleType, Type
from relax_core.ir.prim import AnyDim, IntImm, PrimExpr

Key = tuple[object, ...]


@dataclass(slots=True)
class Applications:
    """The types that calls of operators were found to have, by all that they depend on."""

    type_of: dict[Key, Type] = field(default_factory=dict[Key, Type])
    _part_of: dict[Type, object] = field(default_factory=dict[Type, object])

    def key(self, call: Call, op: Op, arg_types: tuple[Type, ...]) -> Key | None:
        """Return a value that is equal for calls whose types follow from the same.

        `None` if an argument is neither a tensor nor a tuple of tensors.

        Attributes are told apart as they are written, since 1, 1.0 and True are equal in Python; literals by identity.
        """
        parts: list[object] = [op.name, repr(call.attrs) if call.attrs else ""]
        for type_ in arg_types:
            part = self._part_of.get(type_) or self._part(type_)
            if part is None:
                return None
            parts.append(part)
        parts += [arg for arg in call.args if isinstance(arg, Constant)]
        return tuple(parts)

    def _part(self, type_: Type) -> object:
        """Return what stands for the type of an argument; `None` for what is no tensor."""
        match type_:
            case TensorType():
                part = _part_of_tensor(type_)
            case TupleType(fields=fields):
                inner = tuple(map(self._part, fields))
                part = None if None in inner else ("tuple", inner)
            case _:
                part = None
        if part is not None:
            self._part_of[type_] = part
        return part


def _part_of_tensor(type_: TensorType) -> object:
    """Return sizes, `?` for an unknown one, and dtype; the type itself, which equals no other, if it says more."""
    shape = type_.shape
    if not isinstance(shape, tuple) or type_.vdevice is not None or type_.sharding is not None:
        return type_
    sizes = tuple(map(_size, shape))
    return type_ if None in sizes else (type_.dtype, sizes)


def _size(dim: PrimExpr) -> int | str | None:
    match dim:
        case IntImm(value=value, dtype="int64"):
            return value
        case AnyDim():
            return "?"
        case _:
            return None
