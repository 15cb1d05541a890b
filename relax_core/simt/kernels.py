"""Simulating a prim func: its host part with one lane, and each launch with all threads of the grid."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from relax_core.diagnostics import Diagnostic, RunError, plural
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, postorder, preorder
from relax_core.ir.notation.show import show_prim
from relax_core.ir.prim import IntImm, Intrinsic, PointerVar, PrimExpr, PrimVar, StringImm, lanes_of, scalar_of
from relax_core.ir.tir import (
    Block,
    Buffer,
    BufferLoad,
    DeclBuffer,
    Evaluate,
    For,
    LaunchThread,
    LetStmt,
    PrimFunc,
    Stmt,
)
from relax_core.jit.calls.arguments import contiguous_strides
from relax_core.ops.kernels.numbers import numpy_type
from relax_core.simt.findings import Findings
from relax_core.simt.frames import Frame, body_of
from relax_core.simt.hazards import Shadow
from relax_core.simt.lanes import Array, Grid, Lanes, Mask
from relax_core.simt.memory import Memory, View
from relax_core.simt.roofline import DEFAULT_MACHINE, Machine, Roofline, roofline
from relax_core.simt.signature import accessed, arguments_of, called, cell_sizes, roots, sizes_told, with_buffers
from relax_core.simt.state import Launch, State, Storage
from relax_core.simt.statements import Statements
from relax_core.simt.traffic import AccessCost, Traffic
from relax_core.simt.values import data_of

SHARED_LIMIT: Final = 232_448
"""Bytes of shared memory that a block of the largest GPUs may have (compute capability 9.0)."""

MOST_WORK: Final = 2_000_000
"""Statements times threads that may run again, once without each barrier, to see which are needed: some seconds."""


@dataclass(frozen=True, slots=True)
class Output:
    """A parameter that the function may write, as it is in the end."""

    name: str
    value: Array
    undefined: int
    """How many of its elements nothing wrote, or were written undefined."""


@dataclass(frozen=True, slots=True)
class Simulated:
    """What a simulation found, errors first, what it computed, and the grids that it launched."""

    entry: str
    diagnostics: tuple[Diagnostic, ...]
    outputs: tuple[Output, ...]
    grids: tuple[Grid, ...]
    accesses: tuple[AccessCost, ...] = ()
    """What each access in the program costs, in the first block of each launch."""
    traffic: Traffic = field(default_factory=Traffic, repr=False)

    def roofline(self, machine: Machine = DEFAULT_MACHINE) -> Roofline:
        """Return what the launches are bound by on a machine."""
        return roofline(self.traffic, machine)

    @property
    def is_clean(self) -> bool:
        """Tell whether nothing was found but what makes no difference."""
        return all(item.severity == "note" for item in self.diagnostics)


def simulate(
    module: IRModule, entry: str, args: Sequence[Any], is_cancelled: Callable[[], bool] = lambda: False
) -> Simulated:
    """Run the prim func `entry` on a simulated GPU.

    `args` are arrays and scalars, one for each parameter. A buffer that is never read starts undefined.

    Raises:
        RunError: GP010 for what is not simulated, VM008 if it was cancelled.
    """
    function = module[entry]
    if not isinstance(function, PrimFunc):
        message = f"`{entry}` is no prim func, and only prim funcs launch threads"
        raise RunError((Diagnostic("GP010", message, function.span),))
    function = with_buffers(function)
    host = _run(module, function, args, Launch(Findings(), is_cancelled=is_cancelled))
    launch = host.state.launch
    costs = launch.traffic.costs() if host.grids else ()
    for item in costs:
        launch.findings.add_cost(item)
    if launch.findings.are_harmless:
        _note_superfluous(module, function, args, host)
    return Simulated(entry, launch.findings.diagnostics(), host.outputs(), tuple(host.grids), costs, launch.traffic)


@dataclass(frozen=True, slots=True)
class CountedLaunches:
    """What the launches of a function do to memory."""

    grids: tuple[Grid, ...]
    traffic: Traffic


def count_accesses(
    module: IRModule, entry: str, args: Sequence[Any], is_cancelled: Callable[[], bool] = lambda: False
) -> CountedLaunches:
    """Run a prim func on a simulated GPU, and count what each access does, with the cells that it touches.

    Raises:
        RunError: GP010 for what is not simulated, VM008 if it was cancelled.
    """
    function = module[entry]
    assert isinstance(function, PrimFunc), "only prim funcs launch threads"
    launch = Launch(Findings(), Traffic(is_marked=True), is_cancelled=is_cancelled)
    host = _run(module, with_buffers(function), args, launch)
    return CountedLaunches(tuple(host.grids), host.state.launch.traffic)


def _run(module: IRModule, function: PrimFunc, args: Sequence[Any], launch: Launch) -> "_Host":
    host = _Host(module, "", function, launch)
    with np.errstate(all="ignore"):
        host.bind(args)
        host.run(function.body, None)
    return host


def _note_superfluous(module: IRModule, function: PrimFunc, args: Sequence[Any], host: "_Host") -> None:
    """Find the barriers of a sound launch that no two accesses rely on: without one of them it is sound as well."""
    launch = host.state.launch
    work = launch.statement_count * max((grid.thread_count * grid.block_count for grid in host.grids), default=0)
    if work * len(launch.met) > MOST_WORK:
        return
    for barrier in launch.met:
        again = Launch(Findings(), is_cancelled=launch.is_cancelled, left_out=barrier)
        if _run(module, function, args, again).state.launch.findings.are_harmless:
            message = "superfluous barrier: nothing races without it on these inputs, as long as the others stay"
            launch.findings.add("GP016", message, barrier, np.zeros(1, np.int64))


@dataclass(frozen=True, slots=True, eq=False)
class LaunchStart:
    """A launch before its first statement."""

    name: str
    function: PrimFunc
    """The kernel: it has the launch in its body."""
    grid: Grid
    launch: Launch
    body: Stmt
    """What each thread runs."""


class _ReachedError(Exception):
    """The launch that is looked for begins."""

    def __init__(self, start: LaunchStart) -> None:
        super().__init__()
        self.start = start


def launch_of(
    module: IRModule, entry: str, args: Sequence[Any], number: int = 0, is_cancelled: Callable[[], bool] = lambda: False
) -> LaunchStart:
    """Run a prim func up to its launch `number`, and return that.

    Raises:
        RunError: GP010 for what is not simulated, TI004 if there are fewer launches.
    """
    function = module[entry]
    assert isinstance(function, PrimFunc), "only prim funcs launch threads"
    function = with_buffers(function)
    host = _Host(module, entry, function, Launch(Findings(), is_cancelled=is_cancelled), stop_at=number)
    try:
        with np.errstate(all="ignore"):
            host.bind(args)
            host.run(function.body, None)
    except _ReachedError as reached:
        return reached.start
    message = f"`{entry}` launches threads {plural(len(host.grids), 'time')} on these arguments"
    raise RunError((Diagnostic("TI004", message, function.span),))


class _Host(Statements):
    """The part of a function around its launches, which one lane runs."""

    def __init__(
        self, module: IRModule, name: str, function: PrimFunc, launch: Launch, stop_at: int | None = None
    ) -> None:
        super().__init__(State(replace(launch, cell_bytes=dict(cell_sizes(function))), Lanes(Grid({}), 0), {}))
        self.grids: list[Grid] = []
        self._module = module
        self._name = name
        self._function = function
        self._stop_at = stop_at
        """The number of the launch that is looked for."""
        self._read, self._written = accessed(function, module)
        self._memory_of: dict[PrimVar, Memory] = {}

    def bind(self, args: Sequence[Any]) -> None:
        """Give the parameters their arguments, and symbolic dimensions the sizes that these have.

        Raises:
            RunError: JT003 or JT005 for an argument that does not fit.
        """
        function, variables = self._function, self.state.variables
        _check_arguments(function, args)
        for param, value in zip(function.params, args, strict=True):
            buffer = function.buffer_of(param)
            if buffer is None:
                variables[param] = np.asarray(value).item() if param.dtype.startswith(("int", "uint")) else value
                continue
            array = np.asarray(value)
            sizes = zip(buffer.shape, array.shape, strict=False)
            variables.update({dim: size for dim, size in sizes if isinstance(dim, PrimVar)})
        for param, value in zip(function.params, args, strict=True):
            if (buffer := function.buffer_of(param)) is not None:
                variables |= sizes_told(buffer.shape, np.shape(value), variables)
        for param, value in zip(function.params, args, strict=True):
            if (buffer := function.buffer_of(param)) is not None:
                self.bind_memory(param, buffer, self._argument(param, buffer, np.asarray(value)))

    def _argument(self, param: PrimVar, buffer: Buffer, array: Array) -> Memory:
        kind = numpy_type(scalar_of(buffer.dtype))
        raw = np.array(array, kind, order="C").reshape(-1).view(np.uint8)
        cell = min(kind.itemsize, self.state.launch.cell_bytes.get(param, kind.itemsize))
        memory = Memory(buffer.name, "global", raw, cell)
        if param in self._read:
            memory.written[:] = True
            memory.is_all_written = True
        return memory

    def bind_memory(self, param: PrimVar, buffer: Buffer, memory: Memory) -> None:
        """Let a parameter point to memory."""
        self._memory_of[param] = self.state.storage[param] = memory
        shape = self._shape(buffer.shape, None)
        kind, width = numpy_type(scalar_of(buffer.dtype)), lanes_of(buffer.dtype)
        strides = self._shape(buffer.strides, None) if buffer.strides else contiguous_strides(shape)
        self.state.places[buffer] = View(buffer, memory, kind, width, shape, strides)

    def outputs(self) -> tuple[Output, ...]:
        """Return what may have been written."""
        found: list[Output] = []
        for param in self._function.params:
            buffer = self._function.buffer_of(param)
            if buffer is None or param not in self._written:
                continue
            memory, kind = self._memory_of[param], numpy_type(scalar_of(buffer.dtype))
            shape = self._shape(buffer.shape, None)
            undefined = int((~memory.written).sum()) * memory.cell_bytes // kind.itemsize
            found.append(
                Output(buffer.name, memory.raw.view(kind).reshape((*shape, -1) if -1 in shape else shape), undefined)
            )
        return tuple(found)

    def _declare(self, node: DeclBuffer, mask: Mask) -> Frame:
        return body_of(node, node.body, mask) if _is_of_threads(node) else super()._declare(node, mask)

    def _block(self, node: Block, mask: Mask) -> Frame | None:
        bound = {
            loop.var: loop.thread
            for loop in (frame.node for frame in self.frames)
            if isinstance(loop, For) and loop.thread is not None
        }
        used = {
            part: item
            for item in node.iter_vars
            for part in postorder(item.binding)
            if isinstance(part, PrimVar) and part in bound
        }
        for var, item in used.items():
            tag = bound[var]
            if item.kind == "reduce" and tag.startswith("threadIdx"):
                message = f"`{item.var.name}` of the block `{node.name}` is a cross-thread reduction over {tag}"
                self.state.launch.findings.add("GP012", message, item, np.zeros(1, np.int64))
            twin = next((other for other in used if other is not var and bound[other] == tag), None)
            if twin is not None:
                message = (
                    f"the block `{node.name}` uses `{twin.name}` and `{var.name}`, nested and both bound to {tag}: "
                    f"lowered, only the iterations in which they are equal remain"
                )
                self.state.launch.findings.add("GP013", message, node, np.zeros(1, np.int64))
        return super()._block(node, mask)

    def _launch(self, node: LaunchThread, mask: Mask) -> None:
        grid = Grid(self._extents(node))
        self.grids.append(grid)
        launch = self._launched()
        if len(self.grids) - 1 == self._stop_at:
            raise _ReachedError(LaunchStart(self._name, self._function, grid, launch, self._of_lanes(node)))
        shadow_of: dict[Memory, Shadow] = {}
        for first in grid.batches():
            lanes = Lanes(grid, first)
            of_launch = {memory: shadow for memory, shadow in shadow_of.items() if memory.kind == "global"}
            state = State(launch, lanes, of_launch)
            Statements(state).run(self._of_lanes(node), None)
            shadow_of = state.shadow_of
            self._check_shared(node, state)
        self.state.launch.statement_count = launch.statement_count

    def _of_lanes(self, node: LaunchThread) -> Stmt:
        """Return what each thread of a launch runs: memory of threads and of blocks is declared in front of it."""
        body: Stmt = node
        for frame in reversed(self.frames):
            if isinstance(frame.node, DeclBuffer) and _is_of_threads(frame.node):
                body = replace(frame.node, body=body)
        return body

    def _extents(self, node: LaunchThread) -> dict[str, int]:
        """Return the extents of a launch by tag; the largest one where several launches of a tag differ.

        What is computed of the host's numbers alone, between one axis and the next, may stand in an extent.
        """
        found: dict[str, int] = {}
        variables = self.state.variables
        for item in preorder(node):
            match item:
                case LaunchThread(tag=tag) if tag.startswith(("blockIdx", "threadIdx")):
                    extent = int(data_of(self.expressions.evaluate(item.extent, None)))
                    found[tag] = max(extent, found.get(tag, 0))
                case LetStmt(value=value) if all(part in variables for part in postorder(value) if _is_read(part)):
                    variables[item.var] = self.expressions.evaluate(value, None)
                case _:
                    pass
        return found

    def _launched(self) -> Launch:
        host = self.state
        root_of = roots(self._function)
        memory_of: dict[Node, Storage] = {**host.storage, **host.allocated}
        for buffer, root in root_of.items():
            place = host.places.get(buffer)
            if isinstance(place, View):
                memory_of.setdefault(root, place.memory)
        written = {memory_of.get(root) for root in self._written}
        return replace(
            host.launch, variables=dict(host.variables), places=dict(host.places), storage=dict(host.storage),
            written=frozenset(item for item in written if isinstance(item, Memory)),
        )  # fmt: skip

    def _check_shared(self, node: LaunchThread, state: State) -> None:
        used = sum(memory.bytes_each for memory in state.shared())
        if used > SHARED_LIMIT:
            message = (
                f"each block of this launch needs {used:,} B of shared memory, and none has over {SHARED_LIMIT:,} B"
            )
            state.launch.findings.add("GP011", message, node, np.zeros(1, np.int64))

    def _evaluate(self, node: Evaluate, mask: Mask) -> None:
        if isinstance(node.value, Intrinsic) and (callee := called(node.value, self._module)) is not None:
            self._call(node.value, callee)
        elif isinstance(node.value, Intrinsic) and node.value.name == "ret":
            # The host is a single lane: nothing of the function is left to run.
            self.frames.clear()
        else:
            super()._evaluate(node, mask)

    def _let(self, node: LetStmt, mask: Mask) -> Frame:
        if not isinstance(node.value, Intrinsic) or (callee := called(node.value, self._module)) is None:
            return super()._let(node, mask)
        self._call(node.value, callee)
        # What a launch returns is an error's number.
        self.state.variables[node.var] = 0
        return body_of(node, node.body, mask)

    def _call(self, call: Intrinsic, callee: PrimFunc) -> None:
        """Launch a kernel of the module."""
        launch = self.state.launch
        stop_at = None if self._stop_at is None else self._stop_at - len(self.grids)
        name = call.args[0].value if isinstance(call.args[0], StringImm) else ""
        inner = _Host(self._module, name, callee, replace(launch, variables={}, places={}, storage={}), stop_at)
        pointers: list[tuple[PrimVar, Buffer, Memory]] = []
        for param, value in zip(callee.params, arguments_of(call), strict=False):
            buffer, storage = callee.buffer_of(param), self._storage(value)
            if buffer is not None and isinstance(storage, Memory):
                pointers.append((param, buffer, storage))
            elif buffer is None:
                inner.state.variables[param] = self.expressions.evaluate(value, None)
        for _, buffer, memory in pointers:
            count = memory.raw.size // numpy_type(scalar_of(buffer.dtype)).itemsize // lanes_of(buffer.dtype)
            inner.state.variables |= sizes_told(buffer.shape, (count,), inner.state.variables)
        for param, buffer, memory in pointers:
            inner.bind_memory(param, buffer, memory)
        inner.run(callee.body, None)
        launch.statement_count = inner.state.launch.statement_count
        self.grids += inner.grids


def _check_arguments(function: PrimFunc, args: Sequence[Any]) -> None:
    """Refuse arguments that are too many or too few, and those of other shapes than the signature tells."""
    if len(args) != len(function.params):
        message = f"it takes {plural(len(function.params), 'argument')}, got {len(args)}"
        raise RunError((Diagnostic("JT003", message, function.span),))
    for param, value in zip(function.params, args, strict=True):
        buffer = function.buffer_of(param)
        shape = np.shape(value)
        if buffer is None:
            if shape:
                message = f"`{param.name}` expects a number, got an array of shape {shape}"
                raise RunError((Diagnostic("JT003", message, param.span),))
        elif not isinstance(param, PointerVar) and not _fits(buffer.shape, shape):
            expected = ", ".join(show_prim(item) for item in buffer.shape)
            message = f"`{buffer.name}` expects the shape ({expected}), got {shape}"
            raise RunError((Diagnostic("JT005", message, buffer.span),))


def _fits(expected: Sequence[PrimExpr], shape: Sequence[int]) -> bool:
    """Tell whether a shape has as many dimensions, and the sizes that are known."""
    return len(expected) == len(shape) and all(
        not isinstance(dim, IntImm) or dim.value == size for dim, size in zip(expected, shape, strict=True)
    )


def _is_of_threads(node: DeclBuffer) -> bool:
    """Tell whether the threads or blocks of a launch inside have copies; in a scheduled function there is but one."""
    is_copied = node.pointer is None and node.buffer.scope.partition(".")[0] in ("shared", "local")
    return is_copied and any(isinstance(item, LaunchThread) for item in preorder(node.body))


def _is_read(part: Node) -> bool:
    """Tell whether a part of an expression takes its value from elsewhere: a variable, a buffer or a call."""
    return isinstance(part, PrimVar | BufferLoad | Intrinsic)
