"""The devices of a run: where the module says that tensors lie, and the check that a call has them on one device.

A module's table `vdevice` of `I.module_global_infos` numbers its virtual devices; number 0 is the default one. A tensor
that nothing placed is on the default device of such a module. In a module without a table it may be anywhere, as may
constants in all modules.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NoReturn

import numpy as np

from relax_core.analysis.device.devices import Device
from relax_core.analysis.device.virtual_devices import declared_device, default_device
from relax_core.bytecode.executable import Executable
from relax_core.bytecode.isa import CallInstruction, Register
from relax_core.ir.expr import Type
from relax_core.ir.module import IRModule
from relax_core.source import Span
from relax_core.vm.context import Context, fail
from relax_core.vm.objects.placed import PlacedArray, placed
from relax_core.vm.objects.values import Value, root_of

_DONE_BY: Mapping[str, str] = MappingProxyType(
    {"vm.builtin.to_device": "copied to", "vm.builtin.alloc_tensor": "allocated on"}
)


def put(context: Context, value: Any, device: Device | None) -> Any:
    """Return `value` as being on `device`, placed by the running instruction; plain on the default device."""
    is_default = device is None or device == default_device(context.executable.module)
    return value if is_default else placed(value, device, context.frames[-1].absolute_pc if context.frames else -1)


def given(module: IRModule, value: Value, declared: Type | None) -> Value:
    """Return an argument of the host on the device that its parameter declares."""
    device = declared_device(declared)
    return value if device is None or device == default_device(module) else placed(value, device)


def same_device(context: Context, name: str, args: tuple[Value, ...]) -> Device | None:
    """Return the device of the operands of a call, `None` if all are plain.

    Raises:
        RunError: DV005, two operands are on different devices.
    """
    first: tuple[int, Device] | None = None
    table = default_device(context.executable.module)
    for position, array in _tensors(context, args):
        place = array.place if isinstance(array, PlacedArray) else table
        if place is None:
            continue
        if first is not None and first[1] != place:
            _refuse(context, name, (first, (position, place)), args)
        first = first or (position, place)
    return None if first is None or first[1] == table else first[1]


def common_device(args: tuple[Value, ...]) -> Device | None:
    """Return the device on which all placed operands are, `None` if there is none or more than one."""
    found = {item.place for item in args if isinstance(item, PlacedArray)}
    return found.pop() if len(found) == 1 else None


def is_placed(args: tuple[Value, ...]) -> bool:
    """Tell whether one of the operands is on a device of its own."""
    kinds = tuple(map(type, args))
    return PlacedArray in kinds or (tuple in kinds and any(type(item) is tuple and is_placed(item) for item in args))


def _tensors(context: Context, args: tuple[Value, ...]) -> Iterator[tuple[int, np.ndarray[Any, Any]]]:
    """Yield the tensors among the operands, and in tuples of them, with their positions; constants have no place."""
    constants = {id(item) for item in context.executable.constants if isinstance(item, np.ndarray)}
    for position, arg in enumerate(args):
        stack: list[Value] = [arg]
        while stack:
            item = stack.pop()
            if isinstance(item, np.ndarray) and id(root_of(item)) not in constants:
                yield position, item
            elif type(item) is tuple:
                stack.extend(reversed(item))


def _refuse(
    context: Context, name: str, pair: tuple[tuple[int, Device], tuple[int, Device]], args: tuple[Value, ...]
) -> NoReturn:
    shown = [f"{_operand(context, position)} is on {device}" for position, device in pair]
    related: list[tuple[str, Span]] = []
    for (position, device), words in zip(pair, shown, strict=True):
        related.extend(_reasons(context, position, args[position], (device, words)))
    message = f"`{name}` takes operands on one device, but {' and '.join(shown)}"
    fail("DV005", message, "copy one of them with R.to_vdevice", related=tuple(related))


def _operand(context: Context, position: int) -> str:
    register = _register(context, position)
    if register is None:
        return f"operand {position}"
    entry = context.executable.functions[context.frames[-1].function]
    var = entry.register_vars[register] if register < len(entry.register_vars) else None
    return f"`{var.name}`" if var is not None else f"operand {position}"


def _register(context: Context, position: int) -> int | None:
    """Return the register that an operand of the running call is in."""
    if not context.frames:
        return None
    match context.executable.instructions[context.frames[-1].absolute_pc]:
        case CallInstruction(args=args) if position < len(args):
            item = args[position]
            return item.index if isinstance(item, Register) else None
        case _:
            return None


def _reasons(context: Context, position: int, value: Value, found: tuple[Device, str]) -> Iterator[tuple[str, Span]]:
    """Yield why an operand is where it is: its binding, and what placed it."""
    executable, (device, words) = context.executable, found
    register = _register(context, position)
    entry = executable.functions[context.frames[-1].function] if context.frames else None
    known = entry.register_vars if entry is not None else ()
    var = known[register] if register is not None and register < len(known) else None
    span = executable.log.locate(var) if var is not None else None
    if span is not None:
        yield words, span
    item = value if isinstance(value, PlacedArray) else None
    origin = executable.span_of(item.placed_at) if item is not None and item.placed_at >= 0 else None
    if origin is not None:
        yield f"{_did(executable, item.placed_at if item is not None else -1)} {device} here", origin
    elif span is not None:
        yield (f"its type declares {device}" if item is not None else f"nothing places it, {device} is number 0"), span


def _did(executable: Executable, at: int) -> str:
    match executable.instructions[at]:
        case CallInstruction(function=function):
            return _DONE_BY.get(executable.functions[function].name, "computed on")
        case _:
            return "placed on"
