"""Relay programs for the host: values in and out of the definitional interpreter."""

from typing import Any

import numpy as np

from relax_core.ir.expr import Function, TensorType, TupleType, Type, Var
from relax_core.ir.module import IRModule
from relax_core.ir.prim import IntImm
from relax_core.printer.relay_text.types import RelayTypes
from relax_core.vm.context import fail
from relax_core.vm.objects.convert import to_value
from relax_core.vm.objects.placed import plain
from relax_core.vm.objects.values import ObjectValue, Value, describe, dtype_name, map_leaves
from relax_core.vm.relay.interpreter import Lambda, RelayInterpreter


class HostFunction:
    """A function value in the hands of the host: calling it runs the program's function."""

    __slots__ = ("_function", "_interpreter")

    def __init__(self, interpreter: RelayInterpreter, function: Lambda) -> None:
        self._interpreter = interpreter
        self._function = function

    def __call__(self, *args: Any) -> Any:
        given = tuple(_given(arg, None) for arg in args)
        return _to_host(self._interpreter.apply(self._function, given), self._interpreter)

    def __repr__(self) -> str:
        return "<closure>"

    @property
    def value(self) -> ObjectValue:
        """The function as a value of the program."""
        return ObjectValue(self._function)


def run_relay(module: IRModule, entry: str, args: tuple[Any, ...]) -> Any:
    """Run the function `entry` of a sound Relay module on what the host gives.

    Raises:
        RunError: the program failed, or an argument has no counterpart in it.
    """
    interpreter = RelayInterpreter(module)
    found = module.find(entry)
    function = found.function if found is not None else None
    params = function.params if isinstance(function, Function) else ()
    declared = [param.annotation for param in params] + [None] * max(0, len(args) - len(params))
    given = tuple(_given(arg, type_) for arg, type_ in zip(args, declared, strict=False))
    for param, value in zip(params, given, strict=False):
        check_argument(param, value, entry)
    return _to_host(interpreter.call(entry, given), interpreter)


def _given(arg: Any, declared: Any) -> Value:
    return arg.value if isinstance(arg, HostFunction) else to_value(arg, declared)


def _to_host(value: Value, interpreter: RelayInterpreter) -> Any:
    def leaf(item: Value) -> Any:
        match item:
            case ObjectValue(content=Lambda() as function):
                return HostFunction(interpreter, function)
            case ObjectValue(content=content):
                return content
            case _:
                return plain(item)

    return map_leaves(value, leaf, into_captures=False)


def check_argument(param: Var, value: Value, entry: str) -> None:
    """Check the tensors and tuples of an argument; what `?` and type variables stand for is left open.

    Raises:
        RunError: VM011 for another kind, rank or dtype, VM012 for another size.
    """
    waiting: list[tuple[Type, Value]] = [] if param.annotation is None else [(param.annotation, value)]
    while waiting:
        type_, part = waiting.pop()
        code = _refusal(type_, part)
        if code:
            field = "" if part is value else "a field of "
            wanted = RelayTypes().show(type_)
            fail(code, f"{field}%{param.name} of @{entry} must be {wanted}, got {describe(part)}", span=param.span)
        if isinstance(type_, TupleType) and isinstance(part, tuple):
            waiting.extend(zip(type_.fields, part, strict=True))


def _refusal(type_: Type, value: Value) -> str:
    """Return the code of what is wrong with `value`, empty if nothing is."""
    match type_:
        case TupleType(fields=fields):
            # The void value is the tuple of none.
            given = () if value is None else value
            return "" if isinstance(given, tuple) and len(given) == len(fields) else "VM011"
        case TensorType(dtype=str(dtype)) if type_.dims is not None:
            dims = type_.dims
            if not isinstance(value, np.ndarray) or dtype_name(value) != dtype or value.ndim != len(dims):
                return "VM011"
            pairs = zip(dims, value.shape, strict=True)
            return "VM012" if any(isinstance(dim, IntImm) and dim.value != size for dim, size in pairs) else ""
        case _:
            return ""
