"""The constraints that calls put on devices: operators, annotations, copies, constructors and functions."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from relax_core.analysis.device.devices import HOST, Device, as_device_copy, as_on_device
from relax_core.analysis.device.domains import Arrow, Domains, Use, is_primitive_value
from relax_core.ir.expr import Call, Expr, GlobalVar, Op, Var
from relax_core.ir.relay import Constructor

# For operators whose operands are not all on the device of the result: "host" for what must be there, "result" for what
# is on the device of the result, "any" for what may be anywhere, "none" for what has no device.
_PLACES: Mapping[str, tuple[str, ...]] = MappingProxyType({
    "vm.shape_of": ("any",),
    "shape_of": ("any",),
    "memory.alloc_storage": ("host", "host", "host"),
    "memory.alloc_tensor": ("result", "host", "host"),
    "vm.reshape_tensor": ("result", "host"),
    "vm.shape_func": ("none", "host", "host"),
    "memory.shape_func": ("none", "host", "host"),
    "vm.invoke_tvm_op": ("none", "result", "result"),
    "memory.invoke_tvm_op": ("none", "result", "result"),
    "call_lowered": ("none", "result"),
    "memory.kill": ("any",),
})  # fmt: skip
_ON_HOST = ("vm.shape_of", "shape_of", "vm.shape_func", "memory.shape_func")


def constrain_call(domains: Domains, call: Call) -> None:
    """Add the constraints of a call: of an operator, a constructor or a function."""
    match call.op:
        case Op(name=name):
            constrain = _ANNOTATIONS.get(name)
            if constrain is None:
                _operator(domains, call, name)
            else:
                constrain(domains, call)
        case Constructor(name=name):
            domains.own(call)
            for item in call.args:
                domains.same(call, item, f"a {name} is on the device of its fields")
        case callee if is_primitive_value(domains, callee):
            _operator(domains, call, "")
        case callee:
            _apply(domains, call, callee)


def _apply(domains: Domains, call: Call, callee: Expr) -> None:
    name = callee_name(callee)
    implied = Arrow(tuple(domains.of(item, call) for item in call.args), domains.own(call))
    known = domains.of(callee, call)
    if not isinstance(known, Arrow) or len(known.params) != len(implied.params):
        domains.unify(known, implied, call, f"a call of {name}")
        return
    domains.unify(known.result, implied.result, call, f"the call gives the result of {name}")
    for index, (param, arg) in enumerate(zip(known.params, implied.params, strict=True), 1):
        domains.unify(param, arg, call, f"argument {index} of {name} is its parameter")


def callee_name(callee: Expr) -> str:
    """Describe the callee of a call."""
    match callee:
        case GlobalVar(name=name):
            return f"@{name}"
        case Var(name=name):
            return f"%{name}"
        case _:
            return "the function"


def _operator(domains: Domains, call: Call, name: str) -> None:
    shown = f"`{name}`" if name else "the primitive function"
    own = domains.domain_of.get(call)
    if own is None:
        own = domains.domain_of[call] = domains.proof.slot(call)
    result = own if isinstance(own, int) else domains.collapse(own, call, f"{shown} gives one value")
    words = f"{shown} takes and gives values on one device"
    if name not in _PLACES:
        domains.use_all(call, result, words)
        return
    _memory(domains, call, name, result)
    places = _PLACES[name]
    for index in range(len(call.args)):
        match places[index] if index < len(places) else "result":
            case "result":
                domains.use(call, index, result, words)
            case "host":
                host = domains.proof.slot(call)
                domains.proof.fix(host, HOST, call, f"argument {index + 1} of {shown} is wanted on the host")
                domains.use(call, index, host, f"argument {index + 1} of {shown} is wanted on the host")
            case _:
                domains.of(call.args[index], call)


def _memory(domains: Domains, call: Call, name: str, result: int) -> None:
    """Constrain operators that allocate memory or compute shapes."""
    if name in _ON_HOST:
        domains.proof.fix(result, HOST, call, f"`{name}` is computed on the host")
    given = _storage_device(call) if name == "memory.alloc_storage" else None
    if given is not None:
        domains.proof.fix(result, given, call, f"the storage is declared on {given}")


def _storage_device(call: Call) -> Device | None:
    copy = Call(Op("on_device"), call.args, call.attrs)
    found = as_on_device(copy)
    return None if found is None else found.device


def _on_device(domains: Domains, call: Call) -> None:
    note = as_on_device(call)
    assert note is not None, "the caller has seen to it"
    body, result = domains.of(note.body, call), domains.own(call)
    slot = domains.collapse(result, call, "an annotated value has one device")
    if note.device is None:
        domains.unify(body, result, call, "the annotation names no device")
        return
    words = f"annotated with {note.device}"
    if note.constrains_result:
        domains.proof.fix(slot, note.device, call, words)
    if note.constrains_body:
        inner = domains.collapse(body, call, words)
        if isinstance(note.body, Var):
            # A variable may have other uses on other devices, so that the copy serves this use only.
            wanted = domains.proof.slot(call)
            domains.proof.fix(wanted, note.device, call, words)
            domains.notes[call] = [Use(inner, wanted, words)]
        else:
            domains.proof.fix(inner, note.device, call, words)


def _device_copy(domains: Domains, call: Call) -> None:
    copy = as_device_copy(call)
    assert copy is not None, "the caller has seen to it"
    result = domains.collapse(domains.own(call), call, "a copy is on one device")
    if copy.target is not None:
        domains.proof.fix(result, copy.target, call, f"copied to {copy.target}")
    source = domains.proof.slot(call)
    if copy.source is not None:
        domains.proof.fix(source, copy.source, call, f"copied from {copy.source}")
    domains.use(call, 0, source, "a copy starts where its source is")


_ANNOTATIONS: Mapping[str, Callable[[Domains, Call], None]] = MappingProxyType(
    {"on_device": _on_device, "device_copy": _device_copy}
)
