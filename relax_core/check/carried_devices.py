"""The virtual device of an operator's result: that of its operands, unless the operator's rule says another."""

from collections.abc import Iterator
from dataclasses import replace

from relax_core.ir.expr import TensorType, TupleType, Type


def on_device_of(result: Type, arg_types: tuple[Type, ...]) -> Type:
    """Return `result` on the device of the first operand that has one."""
    device = next(_devices(arg_types), None)
    return result if device is None else _placed(result, device)


def _devices(types: tuple[Type, ...]) -> Iterator[str]:
    for item in types:
        match item:
            case TensorType(vdevice=str(device)):
                yield device
            case TupleType(fields=fields):
                yield from (field.vdevice for field in fields if isinstance(field, TensorType) and field.vdevice)
            case _:
                pass


def _placed(type_: Type, device: str) -> Type:
    match type_:
        case TensorType(vdevice=None):
            return replace(type_, vdevice=device)
        case TupleType(fields=fields):
            placed = tuple(_placed(item, device) for item in fields)
            return TupleType(placed) if any(a is not b for a, b in zip(placed, fields, strict=True)) else type_
        case _:
            return type_
