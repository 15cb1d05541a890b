"""Relax's virtual devices as devices: the module's table, the names in types, the numbers that the machine takes."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import cast

from relax_core.analysis.device.devices import DEVICE_KINDS, HOST, Device, device_number
from relax_core.ir.attrs import AttrValue, attr
from relax_core.ir.expr import TensorType, Type
from relax_core.ir.module import IRModule

_KIND_OF_TARGET: Mapping[str, str] = MappingProxyType(
    {**{kind: kind for kind in DEVICE_KINDS.values()}, "llvm": "cpu", "c": "cpu", "nvptx": "cuda"}
)
_OTHER_TARGET = "ext_dev"


def virtual_device(text: str) -> Device:
    """Return the device of "cuda:1:global"; a target that is no kind of device is an extension device."""
    target, _, rest = text.partition(":")
    index, _, scope = rest.partition(":")
    kind = _KIND_OF_TARGET.get(target.split(" ", 1)[0], _OTHER_TARGET)
    return Device(kind, int(index) if index.isdigit() else 0, "" if scope == "global" else scope)


def device_table(module: IRModule) -> tuple[Device, ...]:
    """Return the virtual devices of a module, by number; empty if it has no table."""
    found = attr(module.global_infos, "vdevice", ())
    return tuple(map(_listed, found)) if isinstance(found, tuple) else ()


def _listed(info: AttrValue) -> Device:
    match info:
        case str(text):
            return virtual_device(text)
        case (((_, *_), *_) as target, *rest):
            pairs = cast("tuple[tuple[str, AttrValue], ...]", target)
            kind = attr(pairs, "kind") or attr(pairs, "tag")
            index, scope = (*rest, 0, "global")[:2] if len(rest) < 2 else rest[:2]
            return virtual_device(f"{kind}:{index}:{scope}")
        case _:
            return HOST


def default_device(module: IRModule) -> Device | None:
    """Return the device of tensors that nothing places: number 0; `None` if the module has no table."""
    return next(iter(device_table(module)), None)


def device_index(module: IRModule, type_: Type | None) -> int:
    """Return the number of the virtual device that a type names; 0 if it names none, or one that is not listed."""
    named = declared_device(type_)
    table = device_table(module)
    return table.index(named) if named is not None and named in table else 0


def declared_device(type_: Type | None) -> Device | None:
    """Return the device that a type names."""
    return virtual_device(type_.vdevice) if isinstance(type_, TensorType) and type_.vdevice is not None else None


def copy_arguments(vdevice: str) -> tuple[int, int, str]:
    """Return what `vm.builtin.to_device` takes for a virtual device: DLPack's type, the number, the scope."""
    device = virtual_device(vdevice)
    return *device_number(device), device.scope or "global"


def numbered_device(device_type: int, index: int, scope: str) -> Device:
    """Return the device that DLPack's number of a type, a number and a memory scope name."""
    kind = DEVICE_KINDS.get(device_type, f"device_type={device_type}")
    return Device(kind, index, "" if scope == "global" else scope)
