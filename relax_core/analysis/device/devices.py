"""Devices in Relay: names, attributes in the spellings of all years, and the calls that refer to them."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias, cast

from relax_core.ir.attrs import Attrs, AttrValue, attr
from relax_core.ir.expr import Call, Expr, Function, Op
from relax_core.ir.node import Node
from relax_core.ir.relay import Let

DEVICE_KINDS: Mapping[int, str] = MappingProxyType(
    {1: "cpu", 2: "cuda", 3: "cuda_host", 4: "opencl", 7: "vulkan", 8: "metal", 9: "vpi", 10: "rocm", 12: "ext_dev",
     14: "hexagon", 15: "webgpu"}
)  # fmt: skip
"""The names of DLPack's device types."""
_NUMBER_OF: Mapping[str, int] = MappingProxyType(
    {**{name: number for number, name in DEVICE_KINDS.items()}, "gpu": 2, "llvm": 1}
)
PARAM_DEVICES, RESULT_DEVICE = "param_virtual_devices", "virtual_device"
"""The attributes of a function that hold the devices of its parameters and of its result."""
_UNCONSTRAINED = (0, -1)
_TYPE_FIELDS = ("device_type", "device_type_int")
_INDEX_FIELDS = ("virtual_device_id", "device_id")


@dataclass(frozen=True, slots=True, order=True)
class Device:
    """A device: its kind, such as "cuda", its number among those, and the memory scope if one is named.

    A device that the text only refers to, `meta[VirtualDevice][0]` without its section, has that as its kind and no
    number.
    """

    kind: str
    index: int | None = 0
    scope: str = ""

    def __hash__(self) -> int:
        # Devices are looked up for every copy, and few have one kind.
        return hash(self.kind)

    def __str__(self) -> str:
        number = "" if self.index is None else f"({self.index})"
        return f"{self.kind}{number}{f' in {self.scope}' if self.scope else ''}"


HOST = Device("cpu")
"""The device on which shapes, sizes and conditions are computed."""
Devices: TypeAlias = tuple[Device, ...]


def device_named(text: str) -> Device:
    """Read `cpu`, `cuda(0)` or `cuda:1`.

    Raises:
        ValueError: the text names no device.
    """
    word = text.strip().replace(":", "(").rstrip(")")
    kind, _, number = word.partition("(")
    known = _NUMBER_OF.get(kind.strip())
    if known is None or not (number or "0").strip().isdigit():
        raise ValueError(f"{text!r} is no device; write cpu, cuda(0), ...; kinds: {', '.join(DEVICE_KINDS.values())}")
    return Device(DEVICE_KINDS[known], int(number or 0))


def device_of(value: AttrValue) -> Device | None:
    """Return the device that an attribute names, `None` if it leaves the device open."""
    match value:
        case bool():
            return None
        case int(number):
            return None if number in _UNCONSTRAINED else Device(DEVICE_KINDS.get(number, f"device_type={number}"))
        case (("__class__", "meta"), ("name", str(name)), ("index", int(index))):
            return Device(f"meta[{name}][{index}]", None)
        case tuple() if all(isinstance(item, tuple) and len(cast("tuple[object, ...]", item)) == 2 for item in value):
            return _of_fields(dict(cast("Attrs", value)))
        case str(name):
            return _of_name(name)
        case _:
            return None


def _of_name(name: str) -> Device | None:
    try:
        return device_named(name)
    except ValueError:
        return None


def _of_fields(fields: Mapping[str, AttrValue]) -> Device | None:
    number = next((fields[name] for name in _TYPE_FIELDS if name in fields), None)
    if not isinstance(number, int) or number in _UNCONSTRAINED:
        return None
    index = next((fields[name] for name in _INDEX_FIELDS if name in fields), 0)
    scope = fields.get("memory_scope")
    return Device(
        DEVICE_KINDS.get(number, f"device_type={number}"),
        index if isinstance(index, int) and index > 0 else 0,
        scope if isinstance(scope, str) and scope != "global" else "",
    )


def attribute_of(device: Device) -> AttrValue:
    """Return the attribute value that names `device`."""
    if device.index is None:
        name, _, index = device.kind.removeprefix("meta[").rstrip("]").partition("][")
        return (("__class__", "meta"), ("name", name), ("index", int(index)))
    found = _NUMBER_OF.get(device.kind)
    number = int(device.kind.partition("=")[2]) if found is None else found
    fields: Attrs = (
        *((("virtual_device_id", device.index),) if device.index else ()),
        *((("memory_scope", device.scope),) if device.scope else ()),
    )
    return (("__class__", "VirtualDevice"), ("device_type", number), *fields)


def device_number(device: Device) -> tuple[int, int]:
    """Return the numbers of a device's type and of the device; those of the CPU for one that is only referred to."""
    found = _NUMBER_OF.get(device.kind)
    kind = int(device.kind.partition("=")[2] or 1) if found is None and device.index is not None else found
    return kind or 1, device.index or 0


@dataclass(frozen=True, slots=True)
class OnDevice:
    """A call of `on_device`: `body` is computed on `device` if `constrains_body`, and wanted there if it constrains
    the result."""

    body: Expr
    device: Device | None
    constrains_body: bool
    constrains_result: bool


@dataclass(frozen=True, slots=True)
class DeviceCopy:
    """A call of `device_copy`; a device that it does not name is `None`."""

    body: Expr
    source: Device | None
    target: Device | None


def as_on_device(node: Node) -> OnDevice | None:
    """Return what a call of `on_device` says, in the spelling of any year; `None` for any other node."""
    match node:
        case Call(op=Op(name="on_device"), args=(body, *_), attrs=attrs):
            spelled = next((key for key in ("virtual_device", "se_scope", "device_type") if attr(attrs, key)), "")
            is_fixed = bool(attr(attrs, "is_fixed"))
            constrains_body = attr(attrs, "constrain_body", True)
            result = bool(attr(attrs, "constrain_result")) or is_fixed
            return OnDevice(body, device_of(attr(attrs, spelled)), bool(constrains_body), result)
        case _:
            return None


def as_device_copy(node: Node) -> DeviceCopy | None:
    """Return what a call of `device_copy` says; `None` for any other node."""
    match node:
        case Call(op=Op(name="device_copy"), args=(body, *_), attrs=attrs):
            devices: list[Device | None] = []
            for names in (("src_virtual_device", "src_se_scope", "src_dev_type"),
                          ("dst_virtual_device", "dst_se_scope", "dst_dev_type")):  # fmt: skip
                spelled = next((key for key in names if attr(attrs, key)), "")
                devices.append(device_of(attr(attrs, spelled)))
            return DeviceCopy(body, *devices)
        case _:
            return None


def declared_devices(function: Function) -> tuple[tuple[Device | None, ...], Device | None]:
    """Return the devices that a function's attributes name for its parameters and for its result."""
    given = attr(function.attrs, PARAM_DEVICES)
    params = (
        given if isinstance(given, tuple) and len(given) == len(function.params) else (None,) * len(function.params)
    )
    return tuple(device_of(cast("AttrValue", item)) for item in params), device_of(attr(function.attrs, RESULT_DEVICE))


def let_device(let: Let) -> Device | None:
    """Return the device that is given for the variable of a let."""
    return device_of(attr(let.attrs, RESULT_DEVICE))


def is_primitive(node: Node) -> bool:
    """Tell whether `node` is a function that stands for one operator, and so has no device of its own."""
    return isinstance(node, Function) and any(key in ("Primitive", "Compiler") and value for key, value in node.attrs)
