"""Calls that leave the bytecode: kernels, packed functions, and operators that were not lowered."""

import threading
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from relax_core.diagnostics import DiagnosedError, RunError
from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.jit.options import KernelOptions
from relax_core.jit.transposed import Order, reading_untransposed
from relax_core.ops import find
from relax_core.vm.builtin.builtins import BUILTINS
from relax_core.vm.context import fail
from relax_core.vm.external.operators import run_operator
from relax_core.vm.external.packed import Packed
from relax_core.vm.external.packed_arguments import by_schema, refuse, reserve_result, shown
from relax_core.vm.external.torch_operators import base_name
from relax_core.vm.kernels import Kernel, KernelEngine, written_params
from relax_core.vm.objects.convert import to_host, to_value
from relax_core.vm.objects.devices import common_device, is_placed, put, same_device
from relax_core.vm.objects.values import Array, Value, arrays_in, root_of, shape_text
from relax_core.vm.packed_library.arrays import ArgumentError, Given
from relax_core.vm.recording.recorder import Before
from relax_core.vm.recording.written import WrittenBytes
from relax_core.vm.running import Running

_POLL_SECONDS: Final = 0.02
_IDLE_POLLS: Final = 25


class Watchdog:
    """Poll from a thread whether a run is over, and cancel its kernel.

    It cancels at every poll, because a cancellation that arrives between two kernels has no effect. The thread
    outlives a run by half a second, so that short runs do not each start one. The machine sets `is_watching` for the
    time of a run; whoever calls kernels sets `is_needed` first, since a run without kernels needs no thread.
    """

    def __init__(self, is_over: Callable[[], bool], cancel: Callable[[], None]) -> None:
        self._is_over = is_over
        self._cancel = cancel
        self._lock = threading.Lock()
        self.is_watching = False
        self.is_needed = False
        self.has_thread = False

    def watch(self) -> None:
        """Note that a run has begun, and start the thread unless it runs.

        Raises:
            RunError: VM006: there is no room for the thread, without which nothing could stop a kernel.
        """
        # The thread clears `has_thread` before it reads `is_watching` for the last time, and this sets `is_watching`
        # before it reads `has_thread`: whichever comes second sees the other.
        self.is_watching = True
        if self.is_needed and not self.has_thread and self._begins():
            try:
                threading.Thread(target=self._poll, name="kernel watchdog", daemon=True).start()
            except RuntimeError:
                self.has_thread = False
                fail("VM006", "there is no memory for the thread that stops kernels")

    def _poll(self) -> None:
        idle_count = 0
        while True:
            time.sleep(_POLL_SECONDS)
            idle_count = 0 if self.is_watching else idle_count + 1
            if self.is_watching and self._is_over():
                self._cancel()
            if idle_count > _IDLE_POLLS and self._ends():
                return

    def _begins(self) -> bool:
        """Claim to be the only thread; false if there is one already."""
        with self._lock:
            had_thread, self.has_thread = self.has_thread, True
            return not had_thread

    def _ends(self) -> bool:
        """Give up the claim; false if a run began meanwhile and this thread won it back."""
        self.has_thread = False
        return not (self.is_watching and self._begins())


CANCELLED: Final = "JT014"
"""The code of a kernel that was cancelled: by the host, or by the clock."""


@dataclass(frozen=True, slots=True)
class _Found:
    """A kernel, its caller bound to this machine, and the positions of the arguments that it writes."""

    kernel: Kernel
    caller: Callable[..., object]
    writes: tuple[int, ...]


class Calls:
    """The calls of one machine. Compiled kernels are kept; `watchdog` stops one whose run is over.

    `definitions` are functions of the table that only this run has.
    """

    def __init__(self, machine: Running, engine: KernelEngine | None, options: KernelOptions) -> None:
        self._machine = machine
        self._given_engine = engine
        self._options = options
        self._kernels: dict[int, _Found] = {}
        self.definitions: Mapping[str, Packed] = MappingProxyType({})
        self._watched: list[list[tuple[Array, Before]]] = []
        self.watchdog = Watchdog(machine.is_over, self.cancel)

    @property
    def engine(self) -> KernelEngine:
        """The kernel compiler, made when it is first needed."""
        if self._given_engine is None:
            from relax_core.jit.compilation.compiler import local_compiler
            from relax_core.jit.engine import Engine

            stop, compiler = self._machine.is_over, local_compiler()
            self._given_engine = Engine(is_cancelled=stop, options=self._options, compiler=compiler)
        return self._given_engine

    def cancel(self) -> None:
        """Stop the running kernel."""
        if self._given_engine is not None:
            self._given_engine.cancel()

    def reset(self) -> None:
        """Forget packed functions from which an earlier run did not return."""
        self._watched.clear()

    def call(self, function: int, args: tuple[Value, ...]) -> Value:
        """Call a kernel, a builtin, an operator or a packed function of the function table."""
        entry = self._machine.executable.functions[function]
        if entry.kind == "kernel":
            return self.kernel(function, args)
        if entry.name in BUILTINS:
            return BUILTINS[entry.name](self._machine, *args)
        spec = find(entry.name)
        if spec is not None:
            device = same_device(self._machine, spec.short_name, args) if is_placed(args) else None
            if self._machine.written is not None:
                self._machine.written.require(args, f"`{spec.name}` reads")
            return put(self._machine, run_operator(self._machine, spec, args), device)
        return put(self._machine, self._packed(entry.name, args), common_device(args))

    def caller(self, function: int) -> Callable[..., object]:
        """Return a callable for a prim func without packed calls; it is compiled at its first call."""
        return self._found(function).kernel.caller()

    def maker(self, function: int, shape: tuple[int, ...], dtype: str) -> Callable[..., object]:
        """Return what calls such a prim func and returns its last argument, an output that is made for it."""
        return self._found(function).kernel.allocating_caller(shape, dtype)

    def untransposed(self, function: int, position: int, order: Order) -> Kernel:
        """Return a prim func that takes at `position` what `order` would transpose to what it takes in the text."""
        # It is found first, for kernels need the watchdog.
        self._found(function)
        executable = self._machine.executable
        name, log = executable.functions[function].name, RewriteLog()
        made = reading_untransposed(executable.kernels[name], position, order, log)
        assert made is not None, "bytecode is compiled so only where this is made"
        return self.engine.kernel(made, name, RewriteLog.merged((executable.log, log)), executable.kernels)

    def _found(self, function: int) -> _Found:
        found = self._kernels.get(function)
        if found is None:
            executable = self._machine.executable
            name = executable.functions[function].name
            prim_func = executable.kernels[name]
            kernel = self.engine.kernel(prim_func, name, executable.log, executable.kernels)
            caller = kernel.caller(self._packed_of_kernel)
            found = self._kernels[function] = _Found(kernel, caller, written_params(prim_func))
            self.watchdog.is_needed = True
            if self.watchdog.is_watching:
                self.watchdog.watch()
        return found

    def kernel(self, function: int, args: tuple[Value, ...]) -> None:
        """Call a prim func; it is compiled at its first call."""
        found = self._found(function)
        if is_placed(args):
            same_device(self._machine, self._machine.executable.functions[function].name, args)
        recorder = self._machine.recorder
        if recorder is not None:
            for index in found.writes:
                written = args[index] if index < len(args) else None
                if isinstance(written, np.ndarray):
                    recorder.before_write(written)
        try:
            if self._machine.written is not None:
                self._followed(found, args, self._machine.written)
            else:
                found.caller(*args)
        except DiagnosedError as error:
            self._raise_limit(error)
            raise

    def _followed(self, found: _Found, args: tuple[Value, ...], written: WrittenBytes) -> None:
        """Call a prim func in the mode that tracks which bytes of its arguments were written."""
        from relax_core.jit.kernel import Kernel as CompiledKernel
        from relax_core.jit.kernel import UnwrittenReadError
        from relax_core.jit.lowering.memory.written import followed_params

        machine, kernel, writes = self._machine, found.kernel, found.writes
        arrays = {at: item for at, item in enumerate(args) if isinstance(item, np.ndarray)}
        followed = followed_params(kernel.function) if isinstance(kernel, CompiledKernel) else frozenset[int]()
        for at in writes:
            if at in arrays:
                written.will_write(arrays[at], machine.pc)
        flags = {
            at: flag for at, item in arrays.items() if at in followed and (flag := written.flags(item)) is not None
        }
        if not isinstance(kernel, CompiledKernel):
            found.caller(*args)
        else:
            try:
                kernel(*args, call_host=self._packed_of_kernel, written=flags)
            except UnwrittenReadError as error:
                array = arrays[error.position]
                name, own = written.name_of(array), error.diagnostics[0]
                message = f"{own.message}; it is element {shape_text(error.element)} of {name}"
                hint = f"write all of {name} before `{kernel.name}` reads it"
                related = (*own.related, *written.blame(array, error.element))
                raise RunError((replace(own, message=message, hint=hint, related=related),)) from error
        for at in writes:
            if at in arrays and at not in followed:
                written.wrote(arrays[at], machine.pc)

    def _raise_limit(self, error: DiagnosedError) -> None:
        """Say why a kernel was cancelled: by the host, or by the clock."""
        if error.diagnostics[0].code == CANCELLED:
            self._machine.check_time(error.diagnostics[0].span)

    def _packed_of_kernel(self, name: str, args: tuple[Any, ...]) -> Value:
        """Call a packed function for a kernel; what it writes was recorded when the kernel started."""
        return self._packed(name, args, is_watched=False)

    def _packed(self, name: str, args: tuple[Value, ...], *, is_watched: bool = True) -> Value:
        machine = self._machine
        registry, stand_ins = machine.registry, machine.stand_ins
        stands_in = None if stand_ins is None else stand_ins.find(machine, name, args, machine.pc)
        packed = self.definitions.get(name) or stands_in or registry.find(name)
        if packed is None:
            near = registry.near(name)
            hint = f"did you mean {', '.join(near)}? " if near else ""
            hint += f"Python adds one by `rc.register_packed({name!r}, f)`; an operator in its place needs none"
            hint += "; a stand-in lets the run go on without it: " + f"--stand-in {name}=zeros"
            if base_name(name) is not None:
                hint = f"PyTorch has `{base_name(name)}`: a worker calls it if the optional package torch is installed"
            fail("VM001", f"there is no packed function `{name}`", hint)
        outputs = self._read(name, packed, args) if is_watched else ()
        given = self._given(packed, args)
        if is_watched:
            self._watch(packed, args)
        try:
            value = self._result(packed, args, lambda: to_value(packed.function(*given), None, machine.executable))
        except DiagnosedError:
            raise
        except ArgumentError as error:
            assert packed.spec is not None, "only functions with a schema refuse arguments"
            refuse(packed.spec, str(error))
        except Exception as error:  # Host code may raise anything; it is the program's failure, at its call.
            code = "VM018" if "read-only" in str(error) else "VM002"
            hint = "a constant of the program may not change; copy it first" if code == "VM018" else ""
            hint = hint or (shown(packed.spec) if packed.spec else "")
            fail(code, f"packed function `{name}` failed: {type(error).__name__}: {error}", hint)
        finally:
            if is_watched:
                self._compare()
        for array in outputs:
            if self._machine.written is not None:
                self._machine.written.wrote(array, self._machine.pc)
        return value

    def _result(self, packed: Packed, args: tuple[Value, ...], run: Callable[[], Value]) -> Value:
        """Call a packed function, or give what it gave before where a part of a run is made again."""
        results = self._machine.host_results
        if results is None or packed.is_repeatable:
            return run()
        declared = _declared(packed, args)
        writable = args if declared is None else declared
        return results.call(packed.name, args, writable, run, lambda: self._machine.moment or 0)

    def _read(self, name: str, packed: Packed, args: tuple[Value, ...]) -> tuple[Array, ...]:
        """Check that all is written that a packed function reads, and return the tensors that it writes whole.

        If it does not say what it writes, that is the last operands in a row to which nothing was written at all.
        """
        written = self._machine.written
        if written is None:
            return ()
        # What a function updates in place is read too, but which it is nobody says.
        outputs = _declared(packed, args)
        if outputs is None:
            count = len(args)
            while count and isinstance(item := args[count - 1], np.ndarray) and written.is_unwritten(item):
                count -= 1
            outputs = args[count:]
        others = tuple(item for item in args if not any(item is output for output in outputs))
        written.require(others, f"the packed function `{name}` reads")
        return tuple(arrays_in(*outputs))

    def _given(self, packed: Packed, args: tuple[Value, ...]) -> tuple[Any, ...]:
        """Return the arguments of the function, checked and by name if it has a schema."""
        if packed.spec is None:
            given = tuple(self._to_host(arg) for arg in args)
            return (self._machine, *given) if packed.takes_context else given
        value_of = by_schema(packed.spec, args)
        reserve_result(self._machine, packed.spec, value_of)
        if packed.takes_context:
            return self._machine, Given(value_of)
        return (Given({name: self._to_host(value) for name, value in value_of.items()}),)

    def _to_host(self, value: Value) -> Any:
        return to_host(value, self._machine.invoke, self._machine.executable)

    def _watch(self, packed: Packed, args: tuple[Value, ...]) -> None:
        """Log the tensors that the function declares to write; watch all that it can reach if it declares nothing."""
        recorder = self._machine.recorder
        if recorder is None:
            return
        declared = _declared(packed, args)
        for array in arrays_in(*(declared or ())):
            recorder.before_write(array)
        reached = args if declared is None else ()
        arrays = {(id(root_of(array)), array.ctypes.data, array.nbytes): array for array in arrays_in(*reached)}
        self._watched.append([(array, recorder.snapshot(array)) for array in arrays.values()])

    def _compare(self) -> None:
        recorder = self._machine.recorder
        if recorder is not None:
            for array, before in self._watched.pop():
                recorder.compare(array, before)

    @contextmanager
    def interrupted(self) -> Generator[None]:
        """Run the body, a call back from a packed function: what was written so far was written before it."""
        recorder = self._machine.recorder
        if recorder is None or not self._watched:
            yield
            return
        arrays = [array for array, _ in self._watched[-1]]
        self._compare()
        try:
            yield
        finally:
            self._watched.append([(array, recorder.snapshot(array)) for array in arrays])


def _declared(packed: Packed, args: tuple[Value, ...]) -> tuple[Value, ...] | None:
    """Return the arguments that a packed function declares to write; `None` if it may write any."""
    if packed.writes is None and not packed.is_pure:
        return None
    return tuple(args[at] for at in packed.writes or () if -len(args) <= at < len(args))
