"""Calls of operators whose types follow from the same: operator, attributes, argument types and literals."""

from dataclasses import dataclass, field

from relax_core.ir.expr import Call, Constant, Op
from relax_core.ir.prim import IntImm
from relax_core.ir.types import TensorType, Type

Key = tuple[object, ...]


@dataclass(slots=True)
class Applications:
    """The types that calls of operators were found to have, by all that they depend on."""

    type_of: dict[Key, TensorType] = field(default_factory=dict[Key, TensorType])
    _part_of: dict[TensorType, object] = field(default_factory=dict[TensorType, object])

    def key(self, call: Call, op: Op, arg_types: tuple[Type, ...]) -> Key | None:
        """Return a value that is equal for calls whose types follow from the same; `None` if an argument is no tensor.

        Attributes are told apart as they are written, since 1, 1.0 and True are equal in Python; literals by identity.
        """
        parts: list[object] = [op.name, repr(call.attrs) if call.attrs else ""]
        for type_ in arg_types:
            if not isinstance(type_, TensorType):
                return None
            part = self._part_of.get(type_)
            if part is None:
                part = self._part_of[type_] = _part(type_)
            parts.append(part)
        parts += [arg for arg in call.args if isinstance(arg, Constant)]
        return tuple(parts)


def _part(type_: TensorType) -> object:
    """Return sizes and dtype if all sizes are known, else the type itself, which equals no other."""
    shape = type_.shape
    if not isinstance(shape, tuple) or type_.vdevice is not None or type_.sharding is not None:
        return type_
    sizes = [dim.value for dim in shape if isinstance(dim, IntImm) and dim.dtype == "int64"]
    return (type_.dtype, *sizes) if len(sizes) == len(shape) else type_
