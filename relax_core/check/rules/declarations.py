"""Rules about what a module declares: names outside, promises of purity, virtual devices, inputs that are written.

See: tvm/src/relax/analysis/well_formed.cc and tvm/src/relax/op/op.cc
"""

from collections.abc import Iterator, Mapping
from itertools import chain
from types import MappingProxyType

from relax_core.check.rules.visits import DefUses
from relax_core.diagnostics import Diagnostic, plural
from relax_core.ir.attrs import AttrValue, attr
from relax_core.ir.expr import (
    Call,
    Expr,
    Function,
    FuncType,
    GlobalVar,
    Op,
    PrimValue,
    TensorType,
    Tuple,
    TupleType,
    Type,
)
from relax_core.ir.integer.prove import constant_value, prove_different
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node
from relax_core.ir.prim import StringImm
from relax_core.ir.tir import PrimFunc
from relax_core.ops.show import show_type

_IN_PLACE: Mapping[str, int] = MappingProxyType({"relax.call_tir_inplace": 2, "relax.call_inplace_packed": 1})
"""Which argument lists the inputs that are written."""


def named_as_outside(module: IRModule) -> Iterator[Diagnostic]:
    """Yield the Relax functions of a module whose `global_symbol` is not their name; prim funcs may have another."""
    for item in module:
        if isinstance(item.function, PrimFunc):
            continue
        symbol = attr(item.function.attrs, "global_symbol")
        if symbol is not None and symbol != item.var.name and not item.function.is_private:
            message = f"the function {item.var.name} has the global_symbol {symbol!r}"
            yield Diagnostic("WF017", message, item.function.span, f'write "{item.var.name}", or rename the function')


def promised_purity(function: Function) -> Iterator[Diagnostic]:
    """Yield the promise to be pure of a function that says that it is not."""
    if not function.is_pure and attr(function.attrs, "relax.force_pure") is True:
        message = "the function has relax.force_pure, and is declared with pure=False"
        yield Diagnostic("WF018", message, function.span, "remove one of them")


def known_devices(module: IRModule, function: Function, facts: DefUses) -> Iterator[Diagnostic]:
    """Yield the virtual devices that the module does not list in its global infos, each once."""
    counts = _device_counts(attr(module.global_infos, "vdevice", ()))
    reported: set[str] = set()
    for device, place in _devices(function, facts):
        kind, index = (*device.split(":"), "0")[:2]
        if device in reported or (index.isdigit() and int(index) < counts.get(kind, 0)):
            continue
        reported.add(device)
        listed = ", ".join(f'"{name}:{k}"' for name, count in counts.items() for k in range(count))
        hint = f"it lists {listed}" if listed else f'write I.module_global_infos({{"vdevice": [I.vdevice("{kind}")]}})'
        span = place.span if place.span is not None else function.span
        # TVM ignores a device whose kind the list lacks, and refuses one past the end of its kind, or without a list.
        # It prints -1 for a device that its module does not list, such as behind a pass that lost the list.
        severity = "warning" if index == "-1" or (counts and kind not in counts) else "error"
        yield Diagnostic("WF019", f'the module lists no virtual device "{kind}:{index}"', span, hint, severity)


def _device_counts(infos: AttrValue) -> dict[str, int]:
    """Count the devices of each kind: "cuda:1" is the second one of kind cuda."""
    counts: dict[str, int] = {}
    for info in infos if isinstance(infos, tuple) else ():
        match info:
            case str(text):
                kind = text.split(":", 1)[0].split(" ", 1)[0]
            case (((_, *_), *_) as target, *_):
                pairs = [item for item in target if isinstance(item, tuple) and len(item) == 2]
                kind = next((str(value) for key, value in pairs if key in ("kind", "tag")), "")
            case _:
                continue
        counts[kind] = counts.get(kind, 0) + 1
    return counts


def _devices(function: Function, facts: DefUses) -> Iterator[tuple[str, Node]]:
    for item in facts.definitions:
        for device in _devices_of(item.var.annotation):
            yield device, item.var if item.var.span is not None else item.place
    for visit in facts.visits[Call]:
        match visit.node:
            case Call(op=Op(name="relax.to_vdevice"), args=(_, PrimValue(value=StringImm(value=str(device))))):
                yield device, visit.node
            case Call(type_args=types) if types:
                yield from ((device, visit.node) for type_ in types for device in _devices_of(type_))
            case _:
                pass
    yield from ((device, function) for device in _devices_of(function.ret_type))


def _devices_of(type_: Type | None) -> Iterator[str]:
    rest = [type_]
    while rest:
        match rest.pop():
            case TensorType(vdevice=str(device)):
                yield device
            case TupleType(fields=fields):
                rest.extend(reversed(fields))
            case FuncType(params=params, ret=ret):
                rest.extend(chain((ret,), params or ()))
            case _:
                pass


def written_inputs(call: Call, types: Mapping[Node, Type]) -> Iterator[str]:
    """Yield what is wrong with the inputs that a call writes: their positions, and what it declares to return."""
    place = _IN_PLACE.get(call.op.name) if isinstance(call.op, Op) else None
    if place is None or len(call.args) <= place:
        return
    inputs = _inputs(call, place)
    indices = _indices(call.args[place])
    outputs = call.type_args[0].fields if len(call.type_args) == 1 and isinstance(call.type_args[0], TupleType) else ()
    outputs = outputs or call.type_args
    written = [index for index in indices if index != -1]
    if not written:
        yield "no input is written in place; a call without such is R.call_tir or R.call_pure_packed"
    if len(set(written)) != len(written):
        yield f"an input is written twice: {list(indices)}"
    if inputs is None:
        return
    for index, output in zip(indices, outputs, strict=False):
        if not -1 <= index < len(inputs):
            yield f"there is no input {index}, the inputs are 0 to {len(inputs) - 1}"
        elif index != -1 and (given := types.get(inputs[index])) is not None and _differ(given, output):
            yield f"input {index} is written in place, and {show_type(given)} is not {show_type(output)}"


def _inputs(call: Call, place: int) -> tuple[Expr, ...] | None:
    if place == 1:
        return call.args[2:]
    return call.args[1].fields if isinstance(call.args[1], Tuple) else None


def _indices(expr: Expr) -> tuple[int, ...]:
    items = expr.fields if isinstance(expr, Tuple) else (expr,)
    values = [constant_value(item.value) for item in items if isinstance(item, PrimValue)]
    return tuple(value for value in values if value is not None)


def _differ(given: Type, output: Type) -> bool:
    match given, output:
        case TensorType(dims=a, dtype=dtype), TensorType(dims=b, dtype=other):
            if None not in (dtype, other) and dtype != other:
                return True
            return a is not None and b is not None and (len(a) != len(b) or any(map(prove_different, a, b)))
        case _:
            return False


def direct_calls(call: Call, module: IRModule) -> Iterator[str]:
    """Yield what is wrong with the direct call of a prim func: the number of its arguments."""
    match call.op:
        case GlobalVar(name=name) if (found := module.find(name)) is not None:
            count = len(found.function.params)
            if not isinstance(found.function, Function) and count != len(call.args):
                yield f"{name} takes {plural(count, 'argument')}, got {len(call.args)}"
        case _:
            pass
