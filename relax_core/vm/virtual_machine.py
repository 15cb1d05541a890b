"""Run an executable from Python: NumPy arrays in and out.

A call like an earlier one takes a fast path: set-up, the call and clean-up in one function. It inlines `Machine.call`
and `Tier.start`, because around a kernel of microseconds each further Python call costs.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from typing import Any

import numpy as np

from relax_core.analysis.device.virtual_devices import declared_device
from relax_core.bytecode.executable import Executable, FunctionEntry
from relax_core.ir.expr import Function, Type
from relax_core.jit.options import KernelOptions, Mode
from relax_core.jit.transforms.registry import without as switched_off
from relax_core.vm.context import fail
from relax_core.vm.external.packed import HOST, Registry
from relax_core.vm.external.stand_ins import StandIn, StandInCall
from relax_core.vm.limits import Limits
from relax_core.vm.machine import Machine
from relax_core.vm.objects.convert import TENSOR_KINDS, to_host, to_value
from relax_core.vm.objects.devices import given
from relax_core.vm.objects.values import Value
from relax_core.vm.recording.locate import wrong_count
from relax_core.vm.tiers.tier import ENDS


def host_caller(
    machine: Machine, index: int, read: Callable[[tuple[Any, ...]], tuple[Value, ...]]
) -> Callable[..., Any]:
    """Return what calls an entry of a machine that records nothing; `read` turns what the host gave into values."""
    entry = machine.executable.functions[index]
    name, count = entry.name, entry.param_count
    tier, meter, watchdog, seconds = machine.tier, machine.meter, machine.watchdog, machine.limits.seconds
    functions, bases, base = tier.functions, tier.bases, tier.first_base
    ndarray, kinds = np.ndarray, TENSOR_KINDS

    def call_in_steps(args: tuple[Any, ...]) -> Any:
        return to_host(machine.call(name, read(args)), machine.call_closure, machine.executable)

    def call(*args: Any) -> Any:
        for value in args:
            if type(value) is not ndarray or not value.flags.c_contiguous or value.dtype.kind not in kinds:
                return call_in_steps(args)
        function = functions.get(index)
        if function is None or len(args) != count or not machine.is_unchanged or machine.is_cancelled:
            return call_in_steps(args)
        machine.is_unchanged = False
        machine.deadline = monotonic() + seconds
        meter.fuel = meter.granted = meter.first_chunk
        meter.room = meter.first_room
        base.depth, base.is_deoptimised = 0, False
        bases.append(base)
        try:
            watchdog.is_watching = True
            if watchdog.is_needed and not watchdog.has_thread:
                watchdog.watch()
            result = function(*args, 0)
            machine.is_unchanged = not machine.output
        except ENDS as failure:
            result = machine.ended(failure, base)
        finally:
            bases.pop()
            if tier.is_deep:
                tier.leave_depth()
            watchdog.is_watching = False
            machine.is_cancelled = False
        return result if type(result) is ndarray else to_host(result, machine.call_closure, machine.executable)

    tier.enter_from(call.__code__)
    return call


class VirtualMachine:
    """Runs the functions of an executable: `vm["main"](array, 3, "text")`.

    What the program prints goes to `on_output`, line by line; the default prints it. `mode` is how kernels round:
    "exact" in the order of the text and to less than one unit in the last place, "bitwise" as apache-tvm does, "fast"
    with sums in another order. With `finds_uninitialised` a run stops that reads what nothing wrote. With
    `poisons_memory` a new tensor in a storage is 0xFF in all its bytes, which is NaN, -1 or true. `stand_ins` answer
    for packed functions by name: "zeros" of what the call declares, a Python function, or `RecordedResults`. `without`
    are transformations of kernels that are switched off, by the names that the remarks of `asm FILE` have.
    """

    def __init__(
        self,
        executable: Executable,
        *,
        limits: Limits | None = None,
        registry: Registry = HOST,
        on_output: Callable[[str], None] | None = None,
        mode: Mode = "exact",
        without: Sequence[str] = (),
        finds_uninitialised: bool = False,
        poisons_memory: bool = False,
        stand_ins: Mapping[str, StandIn] | None = None,
    ) -> None:
        self.executable = executable
        self._machine = Machine(
            executable,
            limits=limits,
            record=False,
            registry=registry,
            on_output=on_output or _print_line,
            options=KernelOptions(mode=mode, finds_uninitialised=finds_uninitialised, without=switched_off(without)),
            poisons_memory=poisons_memory,
            stand_ins=stand_ins,
        )

    def __getitem__(self, name: str) -> Callable[..., Any]:
        """Return the function `name`; calling it raises `RunError` if the program fails."""
        machine, read = self._machine, argument_reader(self.executable, name)
        index = self.executable.index_of.get(name)
        entry = self.executable.functions[index] if index is not None else None
        is_plain = machine.stand_ins is None
        if is_plain and index is not None and entry is not None and entry.is_entry and not _has_devices(entry):
            return host_caller(machine, index, read)
        return lambda *args: to_host(machine.call(name, read(args)), machine.call_closure, machine.executable)

    @property
    def stand_in_calls(self) -> tuple[StandInCall, ...]:
        """The calls of the latest run that stand-ins answered."""
        return tuple(self._machine.stand_ins.calls) if self._machine.stand_ins is not None else ()

    def cancel(self) -> None:
        """Stop the running call; for another thread."""
        self._machine.cancel()


def entry_arguments(executable: Executable, name: str, args: tuple[Any, ...]) -> tuple[Value, ...]:
    """Convert what the host gives for the parameters of the function `name` to machine values.

    Raises:
        RunError: VM010 for a wrong number, VM016 for a value that the machine has no counterpart of.
    """
    return argument_reader(executable, name)(args)


def argument_reader(executable: Executable, name: str) -> Callable[[tuple[Any, ...]], tuple[Value, ...]]:
    """Return what converts the arguments of calls of the function `name`, as `entry_arguments` does those of one."""
    index = executable.index_of.get(name)
    entry = executable.functions[index] if index is not None else None
    if entry is None or not entry.is_entry:
        return lambda args: tuple(to_value(arg, None, executable) for arg in args)
    declared = _declared(entry)
    module, count, has_devices = executable.module, entry.param_count, _has_devices(entry)

    def read(args: tuple[Any, ...]) -> tuple[Value, ...]:
        if len(args) != count:
            words = wrong_count(entry, tuple(to_value(arg, None, executable) for arg in args))
            fail("VM010", words, span=entry.node.span if entry.node else None)
        values = tuple(to_value(arg, type_, executable) for arg, type_ in zip(args, declared, strict=True))
        if not has_devices:
            return values
        return tuple(given(module, value, type_) for value, type_ in zip(values, declared, strict=True))

    return read


def _declared(entry: FunctionEntry) -> list[Type | None]:
    params = entry.node.params if isinstance(entry.node, Function) else ()
    return [param.annotation for param in params] or [None] * entry.param_count


def _has_devices(entry: FunctionEntry) -> bool:
    return any(declared_device(type_) is not None for type_ in _declared(entry))


def _print_line(text: str) -> None:
    sys.stdout.write(text + "\n")
