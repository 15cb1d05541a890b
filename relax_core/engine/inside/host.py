"""`rc.inside` and `rc.threads`: a run inside a kernel, and one through the threads of a launch, from Python."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from relax_core.diagnostics import Diagnostic, RunError
from relax_core.engine.debug.requests import FIRST_THREAD, ThreadsOf
from relax_core.engine.inside.peaks import measured_peaks
from relax_core.engine.inside.threads import ThreadWalk, thread_walk
from relax_core.engine.inside.walk import Walk, own_listing, printed_listing, walk
from relax_core.engine.programs import prim_entry
from relax_core.engine.simulation.host import entry_of
from relax_core.inside.probes import ANYWHERE
from relax_core.inside.report import COUNTED
from relax_core.inside.stepper import Kernel
from relax_core.inside.threads.looking import Root, owners_of, roots_of, values_of
from relax_core.ir.module import IRModule
from relax_core.ir.tir import Buffer, PrimFunc
from relax_core.jit.engine import Engine
from relax_core.present.running.inside_models import InsideReport, InsideView, LaunchReport
from relax_core.present.running.inside_report import present_report
from relax_core.simt.roofline import DEFAULT_MACHINE, Machine
from relax_core.simt.signature import with_buffers

__all__ = ["Inside", "Threads", "inside", "threads"]

N = TypeVar("N", Buffer, Root)


class Inside:
    """A run inside a prim func, before one of its statements. The arguments are copied, and stay as they are."""

    def __init__(self, walk: Walk) -> None:
        self._walk = walk

    @property
    def view(self) -> InsideView:
        """What stands here: the statement, loops with their values, what it reads and writes."""
        return self._walk.look(self._walk.stepper.clock, ())

    @property
    def clock(self) -> int:
        """How many statements have run."""
        return self._walk.stepper.clock

    @property
    def total(self) -> int | None:
        """How many statements there are; `None` if they are too many to have been run through."""
        return self._walk.stepper.total

    def go(self, *moves: str) -> InsideView:
        """Make moves, such as `next`, `back 5`, `i=3, j=2`, `if A[i] < 0`; see the command `inside`.

        Raises:
            CompileError: TI003, VM030, VM031: a move is none, or names what there is not.
        """
        return self._walk.look(self._walk.stepper.clock, moves)

    def buffer(self, name: str) -> npt.NDArray[Any]:
        """Return a copy of what a buffer holds here."""
        return self._walk.stepper.memory.array_of[self._named(name)].copy()

    def heat(self, name: str, *, is_write: bool | None = None, whole: bool = False) -> npt.NDArray[Any]:
        """Return how often each element of a buffer has been touched up to here, or in the `whole` run."""
        until = COUNTED if whole else self._walk.stepper.clock
        buffer = self._named(name)
        shape = self._walk.stepper.memory.array_of[buffer].shape
        found = self._walk.counter.count(until, ANYWHERE).of(buffer, is_write=is_write)
        return np.broadcast_to(found, shape).copy()

    def watch(self, expression: str) -> Any:
        """Return what an expression is before the statement runs, `None` where one of its names says nothing.

        Raises:
            CompileError: VM030, VM031: it cannot be read, or names what there is not.
        """
        return self._walk.value_of(expression)

    def report(self) -> InsideReport:
        """Count what the whole run does to memory, access by access."""
        peaks = measured_peaks(self._walk.stepper.kernel.engine)
        return present_report(self._walk.counter, self._walk.listing, (peaks.operations, peaks.memory_bytes))

    def _named(self, name: str) -> Buffer:
        return _found(self._walk.stepper.layout.buffers, name)


class Threads:
    """A block of a launch on the simulated GPU, before a statement of one of its warps."""

    def __init__(self, walk: ThreadWalk, chosen: ThreadsOf) -> None:
        self._walk = walk
        self._chosen = chosen

    @property
    def view(self) -> InsideView:
        """What stands here: the statement, loops with their values, what it touches, and where all threads are."""
        return self.go()

    @property
    def clock(self) -> int:
        """How many statements the warps of the block have run, all together."""
        return self._walk.stepper.clock

    @property
    def total(self) -> int | None:
        """How many statements there are; `None` if they are too many to have been run through."""
        return self._walk.stepper.total

    def go(self, *moves: str) -> InsideView:
        """Make moves: those of `Inside.go`, and `thread`, `warp`, `barrier`, `race`, each with `back` before it.

        Raises:
            CompileError: TI003, VM030, VM031: a move is none, or names what there is not.
        """
        return self._walk.look(self.clock, moves, 0, self._chosen)

    def choose(self, thread: int) -> InsideView:
        """Look at another thread of the block; the run stays where it is."""
        self._chosen = replace(self._chosen, thread=thread)
        return self.view

    def buffer(self, name: str) -> "np.ma.MaskedArray[Any, Any]":
        """Return what a memory holds here, masked where that is undefined; registers have a row for each thread."""
        values, undefined = values_of(self._walk.stepper.run, self._named(name))
        return np.ma.MaskedArray(values, undefined)

    def owners(self, name: str) -> npt.NDArray[np.int64]:
        """Return the thread of the block that wrote each element last, -1 where none did."""
        return owners_of(self._walk.stepper.run, self._named(name))

    def watch(self, expression: str) -> Any:
        """Return what an expression is in the chosen thread, or in the first one that runs the statement.

        It is `None` where one of its names says nothing.

        Raises:
            CompileError: VM030, VM031: it cannot be read, or names what there is not.
        """
        return self._walk.value_of(expression, self._chosen.thread)

    def report(self, machine: Machine = DEFAULT_MACHINE) -> LaunchReport:
        """Count what all blocks of all launches do to memory, access by access, and what bounds them on a machine."""
        return self._walk.report(machine)

    def _named(self, name: str) -> Root:
        return _found(roots_of(self._walk.stepper.run), name)


def threads(
    module: IRModule, entry: str = "", *args: Any, chosen: ThreadsOf = FIRST_THREAD, seed: int = 0,
    sizes: Mapping[str, int] = MappingProxyType({}),
) -> Threads:  # fmt: skip
    """Step through the threads of a block of a launch, on a simulated GPU.

    Args:
        module: it holds the function, and the kernels that it launches.
        entry: by default the first function that launches threads.
        args: arrays and scalars, one for each parameter; made up with `seed` and `sizes` if there are none.
        chosen: the launch, the block, the thread, and the order in which warps go on.
        seed: of made-up arguments.
        sizes: of symbolic dimensions of made-up arguments, by name; small ones by default.

    Raises:
        RunError: EN005, EN009 if there is no such function, TI004 no such launch, GP010 for what is not simulated.
    """
    name, function = entry_of(module, entry)
    given = args or prim_entry.arguments(with_buffers(function), None, seed, sizes, is_signed=True)
    return Threads(thread_walk(module, name, tuple(given), chosen, _listing(name, function)), chosen)


def inside(
    module: IRModule, entry: str = "", *args: Any, seed: int = 0, sizes: Mapping[str, int] = MappingProxyType({})
) -> Inside:
    """Step inside a prim func.

    Args:
        module: it holds the function, and the prim funcs that it calls.
        entry: by default the first prim func.
        args: arrays and scalars, one for each parameter; made up with `seed` and `sizes` if there are none.
        seed: of made-up arguments.
        sizes: of symbolic dimensions of made-up arguments, by name; small ones by default.

    Raises:
        RunError: EN005, EN009 if there is no such function, TI001, TI002 if it cannot be stepped through.
    """
    functions = {var.name: function for var, function in module.prim_funcs}
    name = entry or next(iter(functions), "")
    if name not in functions:
        hint = f"prim funcs: {', '.join(functions)}" if functions else "the module has no prim func"
        raise RunError((Diagnostic("EN005", f"there is no prim func `{name}`", hint=hint),))
    function = functions[name]
    given = args or prim_entry.arguments(function, None, seed, sizes, is_signed=True)
    listing = _listing(name, function)
    return Inside(walk(Kernel(function, name, Engine(), functions=functions, line_of=listing.line_of), given, listing))


def _listing(name: str, function: PrimFunc) -> Any:
    span = function.body.span
    return printed_listing(name, function, "2026") if span is None else own_listing(span.source)


def _found(memories: Sequence[N], name: str) -> N:
    """Return the memory of a name.

    Raises:
        RunError: TI004: there is none.
    """
    found = next((item for item in memories if item.name == name), None)
    if found is None:
        hint = f"there are {', '.join(f'`{item.name}`' for item in memories)}"
        raise RunError((Diagnostic("TI004", f"there is no buffer `{name}`", hint=hint),))
    return found
