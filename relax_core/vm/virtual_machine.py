"""Run an executable from Python: NumPy arrays in and out."""

import sys
from collections.abc import Callable
from typing import Any

from relax_core.bytecode.executable import Executable
from relax_core.diagnostics import RunError
from relax_core.ir.expr import Function
from relax_core.vm.context import fail
from relax_core.vm.convert import to_host, to_value
from relax_core.vm.limits import Limits
from relax_core.vm.locate import wrong_count
from relax_core.vm.machine import Machine
from relax_core.vm.packed import HOST, Registry
from relax_core.vm.values import Value


class VirtualMachine:
    """Runs the functions of an executable: `vm["main"](array, 3, "text")`.

    What the program prints goes to `on_output`, line by line; the default prints it.
    """

    def __init__(
        self,
        executable: Executable,
        *,
        limits: Limits | None = None,
        registry: Registry = HOST,
        on_output: Callable[[str], None] | None = None,
    ) -> None:
        self.executable = executable
        self._machine = Machine(
            executable, limits=limits, record=False, registry=registry, on_output=on_output or _print_line
        )

    def __getitem__(self, name: str) -> Callable[..., Any]:
        """Return the function `name`; calling it raises `RunError` if the program fails."""
        return lambda *args: self._call(name, args)

    def _call(self, name: str, args: tuple[Any, ...]) -> Any:
        trace = self._machine.run(name, entry_arguments(self.executable, name, args))
        if trace.error is not None:
            raise RunError((trace.error,))
        return to_host(trace.result, self._machine.call_closure)

    def cancel(self) -> None:
        """Stop the running call; for another thread."""
        self._machine.cancel()


def entry_arguments(executable: Executable, name: str, args: tuple[Any, ...]) -> tuple[Value, ...]:
    """Convert what the host gives for the parameters of the function `name` to machine values.

    Raises:
        RunError: VM010 for a wrong number, VM016 for a value that the machine has no counterpart of.
    """
    index = executable.index_of.get(name)
    entry = executable.functions[index] if index is not None else None
    if entry is None or not entry.is_entry:
        return tuple(to_value(arg) for arg in args)
    node = entry.node
    if len(args) != entry.param_count:
        fail("VM010", wrong_count(entry, tuple(to_value(arg) for arg in args)), span=node.span if node else None)
    params = node.params if isinstance(node, Function) else ()
    declared = [param.annotation for param in params] or [None] * len(args)
    return tuple(to_value(arg, kind) for arg, kind in zip(args, declared, strict=True))


def _print_line(text: str) -> None:
    sys.stdout.write(text + "\n")
