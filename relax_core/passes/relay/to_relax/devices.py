"""The devices of a planned program as Relax's: a table in the module, `vdevice=` in types, copies that are counted."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from relax_core.analysis.device.devices import (
    DEVICE_KINDS,
    HOST,
    PARAM_DEVICES,
    RESULT_DEVICE,
    Device,
    attribute_of,
    declared_devices,
    is_primitive,
)
from relax_core.analysis.device.plan import DevicePlan, plan_devices
from relax_core.ir.attrs import Attrs, has_attr
from relax_core.ir.expr import (
    Call,
    Constant,
    Expr,
    Function,
    GlobalVar,
    Op,
    PrimValue,
    TensorType,
    TupleType,
    Type,
    Var,
)
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, postorder
from relax_core.ir.prim import StringImm
from relax_core.ir.relay import Let
from relax_core.passes.core import PassContext
from relax_core.passes.relay.copying import copied
from relax_core.passes.relay.rebuild import change_functions, let_vars, rebuild

ENTRY = "main"
_TARGETS = MappingProxyType({"cpu": "llvm"})
_ON_HOST = ("shape_of", "vm.shape_of", "ndarray_size")
"""Operators that Relax computes without touching the tensor: nothing places their results."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where the values of a planned module are; `default` is the device of what nothing places, number 0."""

    plan: DevicePlan
    default: Device
    table: tuple[Device, ...]

    @property
    def infos(self) -> Attrs:
        """Return the module's table of virtual devices."""
        return (("vdevice", tuple(map(_spelled, self.table))),)

    def placed(self, type_: Type, device: Device | None) -> Type:
        """Return a type with its tensors on `device`; other types have no place for it."""
        match type_:
            case TensorType() if device is not None:
                return replace(type_, vdevice=_spelled(device))
            case TupleType(fields=fields):
                return TupleType(tuple(self.placed(item, device) for item in fields))
            case _:
                return type_

    def missing(self, call: Call, atoms: tuple[Expr, ...]) -> Device | None:
        """Return the device that the result of an operator is planned on, unless its operands bring it there."""
        wanted = self.plan.device(call)
        name = call.op.name if isinstance(call.op, Op) else ""
        fed = [arg for arg, atom in zip(call.args, atoms, strict=True) if not isinstance(atom, (Constant, PrimValue))]
        found = self.plan.device(fed[0]) if fed and name not in _ON_HOST else self.default
        return wanted if wanted != found else None


def copy_to(value: Expr, device: Device, origin: Expr) -> Call:
    """Return a copy of a tensor to a device."""
    return Call(Op("relax.to_vdevice"), (value, PrimValue(StringImm(_spelled(device)))), span=origin.span)


def without_devices(attrs: Attrs) -> Attrs:
    """Return the attributes of a function without those that types say."""
    return tuple(pair for pair in attrs if pair[0] not in (PARAM_DEVICES, RESULT_DEVICE))


def with_kernels_placed(module: IRModule, ctx: PassContext) -> IRModule:
    """Write the devices of their calls at the functions that stand for one operator, which the plan leaves open.

    One that is called on several devices is copied for each, as the machine makes room for its result on one.
    """
    if not _is_planned(module):
        return module
    plan = plan_devices(module, HOST)
    use_of: dict[Node, tuple[Function, Device]] = {}
    devices_of: dict[Function, set[Device]] = {}
    for call, function in _kernel_calls(module):
        device = plan.device(call)
        if device is not None:
            use_of[call] = function, device
            devices_of.setdefault(function, set()).add(device)
    several = {function for function, devices in devices_of.items() if len(devices) > 1}
    copies = {use: _on(use[1], copied(use[0], {}, ctx)) for use in use_of.values() if use[0] in several}

    def change(old: Node, rebuilt: Node) -> Node:
        match old, rebuilt:
            case Function(), _ if old in devices_of and old not in several:
                (device,) = devices_of[old]
                return ctx.derive(_on(device, old), old)
            case Call(), Call() if use_of.get(old) in copies:
                return ctx.derive(replace(rebuilt, op=copies[use_of[old]]), old)
            case _:
                return rebuilt

    return change_functions(module, lambda function: rebuild(function, change, ctx), ctx, into_closed=True)


def _on(device: Device, function: Function) -> Function:
    params = (attribute_of(device),) * len(function.params)
    attrs = (*without_devices(function.attrs), (PARAM_DEVICES, params), (RESULT_DEVICE, attribute_of(device)))
    return replace(function, attrs=attrs)


def _kernel_calls(module: IRModule) -> Iterator[tuple[Call, Function]]:
    """Yield the calls of functions that stand for one operator."""
    globals_ = {item.var.name: item.function for item in module}
    for item in module:
        lets: Mapping[Var, Let] = let_vars(item.function) if isinstance(item.function, Function) else {}
        for node in postorder(item.function):
            callee = node.op if isinstance(node, Call) else None
            while isinstance(callee, Var) and callee in lets:
                callee = lets[callee].value
            found = globals_.get(callee.name) if isinstance(callee, GlobalVar) else callee
            if isinstance(node, Call) and isinstance(found, Function) and is_primitive(found):
                yield node, found


def _is_planned(module: IRModule) -> bool:
    return any(has_attr(function.attrs, RESULT_DEVICE) for _, function in module.relax_functions)


def places_of(module: IRModule) -> Places | None:
    """Return where the values of a module are, `None` if PlanDevices has not run on it, or a device has no number."""
    functions = [function for _, function in module.relax_functions]
    if not _is_planned(module):
        return None
    plan = plan_devices(module, HOST)
    found = dict.fromkeys(device for function in functions for device in _devices(function, plan))
    if not found or any(item.index is None or item.kind not in DEVICE_KINDS.values() for item in found):
        return None
    listed = tuple(dict.fromkeys(lower for device in found for lower in _up_to(device)))
    default = next(_unplaced(module, plan), listed[0])
    return Places(plan, default, (default, *(item for item in listed if item != default)))


def _up_to(device: Device) -> Iterator[Device]:
    """Yield the devices of a kind up to one: a type names a device by its number among those that are listed."""
    for index in range(device.index or 0):
        yield Device(device.kind, index)
    yield device


def _devices(function: Function, plan: DevicePlan) -> Iterator[Device]:
    params, result = declared_devices(function)
    nodes = (plan.device(node) for node in postorder(function.body) if isinstance(node, Call))
    yield from (device for device in (*params, result, *nodes) if device is not None)


def _unplaced(module: IRModule, plan: DevicePlan) -> Iterator[Device]:
    """Yield the devices of what nothing places when the program runs: data from the host, and what is made there."""
    for item in module:
        if not isinstance(item.function, Function):
            continue
        params = zip(item.function.params, declared_devices(item.function)[0], strict=True)
        if item.var.name == ENTRY:
            yield from (
                device
                for param, device in params
                if device is not None and not isinstance(plan.domains.types.get(param), (TensorType, TupleType))
            )
    for item in module:
        for node in postorder(item.function):
            if isinstance(node, Call) and isinstance(node.op, Op) and (not node.args or node.op.name in _ON_HOST):
                yield from (device for device in (plan.device(node),) if device is not None)
    main = module.find(ENTRY)
    result = declared_devices(main.function)[1] if main and isinstance(main.function, Function) else None
    yield from (device for device in (result,) if device is not None)


def _spelled(device: Device) -> str:
    return f"{_TARGETS.get(device.kind, device.kind)}:{device.index}:{device.scope or 'global'}"
