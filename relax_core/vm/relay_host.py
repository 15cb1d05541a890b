"""Relay programs for the host: values in and out of the definitional interpreter."""

from typing import Any

from relax_core.ir.expr import Function
from relax_core.ir.module import IRModule
from relax_core.vm.convert import to_value
from relax_core.vm.limits import Limits
from relax_core.vm.placed import plain
from relax_core.vm.relay_arguments import check_argument
from relax_core.vm.relay_interpreter import Lambda, RelayInterpreter
from relax_core.vm.values import ObjectValue, Value, map_leaves


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


def run_relay(module: IRModule, entry: str, args: tuple[Any, ...], limits: Limits | None = None) -> Any:
    """Run the function `entry` of a sound Relay module on what the host gives.

    Raises:
        RunError: the program failed, or an argument has no counterpart in it.
    """
    interpreter = RelayInterpreter(module, limits)
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
