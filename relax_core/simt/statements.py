"""Statements of TIR in all lanes at once; a branch runs for the lanes that take it.

Where the lanes are is a stack of frames, and not one of Python: a run can be stopped before any statement.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any, Final

import numpy as np

from relax_core.diagnostics import plural
from relax_core.ir.node import Node
from relax_core.ir.prim import CommReducer, IntImm, Intrinsic, PrimExpr, PrimVar, StringImm, lanes_of, scalar_of
from relax_core.ir.tir import (
    Allocate,
    AssertStmt,
    AttrStmt,
    Block,
    Buffer,
    BufferLoad,
    BufferRef,
    BufferStore,
    DeclBuffer,
    Evaluate,
    For,
    IfThenElse,
    LaunchThread,
    LetStmt,
    SeqStmt,
    Stmt,
    While,
)
from relax_core.jit.calls.arguments import contiguous_strides
from relax_core.ops.kernels.numbers import BINARY, Plain, is_array, numpy_type
from relax_core.simt.expressions import Expressions
from relax_core.simt.findings import at_line, text_of
from relax_core.simt.frames import Frame, Part, body_of, branches, counted
from relax_core.simt.lanes import AXES, Array, Mask
from relax_core.simt.memory import Memory, Registers, View
from relax_core.simt.state import Place, State, Storage, unsupported
from relax_core.simt.units.copies import COMMITS, COPIES, WAITS, Copies
from relax_core.simt.units.matrices import FRAGMENT_SCOPE, FRAGMENTS, LOADS, MMA, Matrices
from relax_core.simt.units.pointers import Pointers
from relax_core.simt.values import Value, data_of
from relax_core.simt.warps import all_reduced

_OF_BLOCK: Final = ("shared", "shared.dyn", "global")
_BARRIERS: Final = ("tvm_storage_sync", "cuda.cta_sync", "cuda.warp_sync", "cuda.syncthreads", "cuda.__syncthreads",
                    "cuda.__syncwarp")  # fmt: skip
_SYNC: Final = Intrinsic("tvm_storage_sync", (StringImm("shared"),), "int32")
_SILENT: Final = ("assume", "hint", "cuda.thread_fence")


class Statements:
    """Runs the body of a kernel in the lanes of a state."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.expressions = Expressions(state)
        pointers = Pointers(self.expressions)
        self._matrices = Matrices(self.expressions, pointers)
        self._copies = Copies(self.expressions, pointers)
        self.frames: list[Frame] = []
        """The statements around what runs, from the outside."""
        self._rules: dict[type[Stmt], Callable[[Any, Mask], Frame | None]] = {
            SeqStmt: self._sequence, BufferStore: self._store, For: self._for, While: self._while,
            IfThenElse: self._if, LetStmt: self._let, AssertStmt: self._assert, Evaluate: self._evaluate,
            AttrStmt: self._attribute, LaunchThread: self._launch, Allocate: self._allocate,
            DeclBuffer: self._declare, Block: self._block,
        }  # fmt: skip

    def run(self, node: Stmt, mask: Mask) -> None:
        """Run a statement in the lanes of `mask`, to its end.

        Raises:
            RunError: GP010 for what is not simulated, VM008 if it was cancelled.
        """
        depth = len(self.frames)
        self.begin(node, mask)
        while len(self.frames) > depth:
            part = self.following()
            if part is not None:
                self.begin(*part)

    def begin(self, node: Stmt, mask: Mask) -> None:
        """Run a statement that has no others in it, or enter one that has."""
        self.state.launch.count_statement(node)
        rule = self._rules.get(type(node))
        if rule is None:
            unsupported(node, f"a {type(node).__name__} in a launch")
        frame = rule(node, mask)
        if frame is not None:
            self.frames.append(frame)

    def following(self) -> Part | None:
        """Return what comes next in the innermost statement; `None` if it is done, and left."""
        frame = self.frames[-1]
        part = frame.following(self.expressions)
        if part is None:
            self.frames.pop()
        return part

    def _sequence(self, node: SeqStmt, mask: Mask) -> Frame:
        stmts = node.stmts
        return Frame(node, mask, lambda frame, _: (stmts[frame.at], mask) if frame.at < len(stmts) else None)

    def _store(self, node: BufferStore, mask: Mask) -> None:
        self.state.launch.traffic.compute(node.value, mask, self.state.lanes)
        value = self.expressions.evaluate(node.value, mask)
        indices = tuple([self.expressions.evaluate(item, mask) for item in node.indices])
        self.expressions.accesses.store(node.buffer, indices, value, node, mask)

    def _for(self, node: For, mask: Mask) -> Frame:
        evaluate = self.expressions.evaluate
        start, extent = (data_of(evaluate(item, mask)) for item in (node.start, node.extent))
        step = 1 if node.step is None else data_of(evaluate(node.step, mask))
        if not any(is_array(item) for item in (start, extent, step)):
            return counted(node, mask, range(int(start), int(start) + int(extent), int(step)))
        return Frame(node, mask, _iteration, condition=node.extent, span=(start, start + extent, step))

    def _block(self, node: Block, mask: Mask) -> Frame | None:
        """Enter an instance of a block: its init runs where every reduction variable is at its start."""
        evaluate = self.expressions.evaluate
        if node.matches:
            unsupported(node.matches[0], "a block's view of a region")
        for item in node.iter_vars:
            self.state.variables[item.var] = evaluate(item.binding, mask)
        if node.predicate is not None:
            mask, _ = self.expressions.narrowed(mask, self.expressions.condition(node.predicate, mask))
            if not self.state.lanes.full(mask).any():
                return None
        for buffer in node.alloc_buffers:
            shape, dtype = self._shape(buffer.shape, mask), scalar_of(buffer.dtype)
            self.state.places[buffer] = self._registers(buffer, dtype, shape)
        first: Plain = True
        for item in node.iter_vars if node.init is not None else ():
            if item.kind == "reduce":
                start = 0 if item.start is None else data_of(evaluate(item.start, mask))
                first = BINARY["and"](first, data_of(self.state.variables[item.var]) == start)
        inits = [] if node.init is None else [(node.init, self.state.lanes.full(mask) & first)]
        return branches(node, mask, [*inits, (node.body, self.state.lanes.full(mask))])

    def _registers(self, buffer: Buffer, dtype: str, shape: tuple[int, ...]) -> Registers:
        """Return what a block allocates, each time the same, undefined at first."""
        found = self.state.allocated.get(buffer)
        if not isinstance(found, Registers):
            width = lanes_of(buffer.dtype)
            found = Registers(buffer, numpy_type(dtype), width, shape, [None] * prod(shape))
            self.state.allocated[buffer] = found
        return found

    def _while(self, node: While, mask: Mask) -> Frame:
        def part(frame: Frame, expressions: Expressions) -> Part | None:
            before = expressions.state.lanes.full(frame.mask)
            active = before & expressions.condition(node.condition, before)
            frame.mask = active
            return (node.body, _whole(active)) if active.any() else None

        return Frame(node, mask, part, condition=node.condition)

    def _if(self, node: IfThenElse, mask: Mask) -> Frame | None:
        condition = self.expressions.condition(node.condition, mask)
        if not is_array(condition):
            chosen = node.then_body if condition else node.else_body
            return None if chosen is None else body_of(node, chosen, mask)
        yes, no = self.expressions.narrowed(mask, condition)
        bodies = ((node.then_body, yes), (node.else_body, no))
        return branches(node, mask, [(body, lanes) for body, lanes in bodies if body is not None], node.condition)

    def _let(self, node: LetStmt, mask: Mask) -> Frame:
        if isinstance(storage := self._storage(node.value), Memory | Registers):
            self.state.storage[node.var] = storage
        else:
            self.state.variables[node.var] = self.expressions.evaluate(node.value, mask)
            if self.expressions.is_fixed(node.value):
                self.expressions.fixed.add(node.var)
        return body_of(node, node.body, mask)

    def _assert(self, node: AssertStmt, mask: Mask) -> None:
        condition = self.expressions.condition(node.condition, mask)
        failed = self.state.lanes.full(mask) & np.logical_not(condition)
        if failed.any():
            lanes = self.state.lanes
            place = lanes.grid.place(int(lanes.thread[np.flatnonzero(failed)[0]]))
            message = f"an assertion fails in {place}: {node.message}"
            self.state.launch.findings.add("GP009", message, node, lanes.thread[failed])

    def _attribute(self, node: AttrStmt, mask: Mask) -> Frame:
        if node.key == "thread_extent":
            unsupported(node, "a launch that is written as an attribute")
        return body_of(node, node.body, mask)

    def _launch(self, node: LaunchThread, mask: Mask) -> Frame | None:
        kind = node.tag.partition(".")[0]
        if kind in ("blockIdx", "threadIdx"):
            self.state.variables[node.var] = self.state.lanes.numbers(node.tag, node.var.dtype)
            self.state.tag_of[node.var] = node.tag
            self.expressions.fixed.add(node.var)
            return body_of(node, node.body, mask)
        if kind in ("vthread", "cthread"):
            numbers = range(int(data_of(self.expressions.evaluate(node.extent, mask))))
            return counted(node, mask, numbers)
        unsupported(node, f"a launch of `{node.tag}`")

    def _allocate(self, node: Allocate, mask: Mask) -> Frame:
        buffer = Buffer(node.var.name, node.extents, scalar_of(node.dtype), scope=node.scope, span=node.span)
        shape = self._shape(node.extents, mask)
        made = self.state.allocate(node, buffer, scalar_of(node.dtype), lanes_of(node.dtype), shape)
        self.state.storage[node.var] = made
        return body_of(node, node.body, mask)

    def _declare(self, node: DeclBuffer, mask: Mask) -> Frame:
        buffer = node.buffer
        shape, (dtype, width) = self._shape(buffer.shape, mask), (scalar_of(buffer.dtype), lanes_of(buffer.dtype))
        if node.pointer is None:
            storage: Storage | None = self.state.allocate(node, buffer, dtype, width, shape)
        else:
            storage = self._storage(node.pointer)
        if storage is None:
            unsupported(node, f"the memory of `{buffer.name}`")
        if isinstance(storage, Registers) and storage.buffer.scope.startswith(FRAGMENT_SCOPE):
            self.state.fragments[buffer] = storage
            return body_of(node, node.body, mask)
        self.state.places[buffer] = self._place(node, storage, shape, mask)
        return body_of(node, node.body, mask)

    def _shape(self, extents: tuple[PrimExpr, ...], mask: Mask) -> tuple[int, ...]:
        return tuple(int(data_of(self.expressions.evaluate(item, mask))) for item in extents)

    def _storage(self, pointer: PrimExpr) -> Storage | None:
        match pointer:
            case BufferRef(buffer=buffer):
                place = self.state.places.get(buffer)
                return place.memory if isinstance(place, View) else place
            case PrimVar():
                return self.state.storage.get(pointer)
            case _:
                return None

    def _place(self, node: DeclBuffer, storage: Storage, shape: tuple[int, ...], mask: Mask) -> Place:
        buffer, kind = node.buffer, numpy_type(scalar_of(node.buffer.dtype))
        width = lanes_of(buffer.dtype)
        if isinstance(storage, Registers):
            if (storage.dtype, storage.lanes) != (kind, width):
                unsupported(node, f"`{buffer.name}`, a view of registers as another dtype,")
            return Registers(buffer, kind, width, shape, storage.rows)
        strides = self._shape(buffer.strides, mask) if buffer.strides else contiguous_strides(shape)
        offset = 0 if buffer.elem_offset is None else self._offset(buffer.elem_offset, mask)
        return View(buffer, storage, kind, width, shape, strides, offset)

    def _offset(self, offset: PrimExpr, mask: Mask) -> int:
        if isinstance(offset, PrimVar) and offset not in self.state.variables:
            return 0
        return int(data_of(self.expressions.evaluate(offset, mask)))

    def _evaluate(self, node: Evaluate, mask: Mask) -> None:
        match node.value:
            case Intrinsic(name=name) as call if name in _BARRIERS:
                self.state.launch.met[node] = None
                if node is not self.state.launch.left_out:
                    self.barrier(node, mask, call)
            case Intrinsic(name="tvm_thread_allreduce"):
                self._reduce(node, mask)
            case Intrinsic(name=name) as call if name in (*MMA, *LOADS, *FRAGMENTS):
                self._matrices.run(node, call, mask)
            case Intrinsic(name=name) as call if name in (*COPIES, *COMMITS, *WAITS):
                self._copies.run(node, call, mask)
            case Intrinsic(name=name) if name in _SILENT:
                pass
            case value:
                self.expressions.evaluate(value, mask)

    def barrier(self, node: Evaluate, mask: Mask, call: Intrinsic = _SYNC) -> None:
        """Let the threads meet that reach a barrier, and tell it if others do not."""
        is_of_warp = scope_of(call) == "warp"
        if not is_of_warp and scope_of(call) not in _OF_BLOCK:
            unsupported(node, f"a barrier of the scope `{scope_of(call)}`")
        state, lanes = self.state, self.state.lanes
        arrived = lanes.full(mask)
        groups = lanes.warp if is_of_warp else lanes.block_in_batch
        most = lanes.block_count * (lanes.grid.warp_count if is_of_warp else 1)
        sizes, counts = np.bincount(groups, minlength=most), np.bincount(groups, weights=arrived, minlength=most)
        partial = (counts > 0) & (counts < sizes)
        if partial.any():
            self._divergent(node, arrived, groups, int(np.flatnonzero(partial)[0]))
        if is_of_warp or not (counts > 0).all():
            self.expressions.accesses.flush()
        if is_of_warp:
            state.barriers.meet_in_warps(counts > 0)
            return
        state.barriers.meet(counts > 0)
        for memory in state.shared():
            memory.settle()
            if memory in state.shadow_of and (counts > 0).all():
                state.shadow_of[memory].forget_reads()

    def _divergent(self, node: Node, arrived: "np.ndarray[Any, Any]", groups: "np.ndarray[Any, Any]", at: int) -> None:
        lanes = self.state.lanes
        inside = groups == at
        missing = np.flatnonzero(inside & ~arrived)
        why = next((frame.condition for frame in reversed(self.frames) if frame.condition is not None), None)
        words = "" if why is None else f"; `{text_of(why)}`{at_line(why.span)} differs between them"
        message = (
            f"divergent barrier: {int((inside & arrived).sum())} of {plural(int(inside.sum()), 'thread')} reach it, "
            f"and the first that does not is {lanes.grid.place(int(lanes.thread[missing[0]]))}{words}"
        )
        self.state.launch.findings.add("GP004", message, node, lanes.thread[missing], "missing thread")

    def _reduce(self, node: Evaluate, mask: Mask) -> None:
        given = self.contributions(node, mask)
        results = self.reduced(node, given, self.reducer(node))
        self.barrier(node, mask)
        self.receive(node, results, mask)

    def reducer(self, node: Node) -> CommReducer:
        """Return what the reductions over threads in the statements around combine with."""
        for frame in reversed(self.frames):
            match frame.node:
                case AttrStmt(key="reduce_scope", subject=CommReducer() as reducer):
                    return reducer
                case _:
                    pass
        return unsupported(node, "a reduction over threads outside of its reducer")

    def contributions(self, node: Evaluate, mask: Mask) -> list[Value]:
        """Return what the lanes give to a reduction over threads."""
        evaluate, reducer, parts = self.expressions.evaluate, self.reducer(node), _parts_of(node)
        if len(reducer.params) != 2 * len(parts.values):
            unsupported(node, "a reduction over threads outside of its reducer")
        holds = evaluate(parts.condition, mask)
        return [
            self.expressions.chosen(holds, evaluate(value, mask), evaluate(identity, mask), mask)
            for value, identity in zip(parts.values, reducer.identity, strict=True)
        ]

    def reduced(self, node: Evaluate, given: list[Value], reducer: CommReducer) -> tuple[Value, ...]:
        """Reduce what all lanes gave."""
        tags = [self.state.tag_of.get(item, "") for item in _parts_of(node).threads if isinstance(item, PrimVar)]
        axes = [AXES.index(tag[-1]) for tag in tags if tag]
        return all_reduced(given, axes, lambda a, b: self._combined(reducer, a, b), self.state.lanes)

    def receive(self, node: Evaluate, results: tuple[Value, ...], mask: Mask) -> None:
        """Store the results of a reduction over threads."""
        for target, result in zip(_parts_of(node).targets, results, strict=True):
            if not isinstance(target, BufferLoad):
                unsupported(node)
            indices = tuple(self.expressions.evaluate(item, mask) for item in target.indices)
            self.expressions.accesses.store(target.buffer, indices, result, node, mask)

    def _combined(self, reducer: CommReducer, left: tuple[Value, ...], right: tuple[Value, ...]) -> tuple[Value, ...]:
        self.state.variables.update(zip(reducer.params, (*left, *right), strict=True))
        return tuple(self.expressions.evaluate(item, None) for item in reducer.results)


def _iteration(frame: Frame, expressions: Expressions) -> Part | None:
    """Return an iteration of a loop whose bounds differ between lanes: for those that have it."""
    assert isinstance(frame.node, For), "only a `for` has bounds"
    assert frame.span is not None
    start, stop, step = frame.span
    lanes = expressions.state.lanes
    active = lanes.full(frame.mask) & np.broadcast_to(np.less(frame.at * step, stop - start), (lanes.count,))
    if not active.any():
        return None
    expressions.state.variables[frame.node.var] = start + frame.at * step
    return frame.node.body, _whole(active)


def scope_of(call: Intrinsic) -> str:
    """Return whose threads meet at a barrier: those of the warp, or of the block."""
    if "warp" in call.name:
        return "warp"
    return call.args[0].value if call.args and isinstance(call.args[0], StringImm) else "shared"


def meets(node: Stmt) -> bool:
    """Tell whether all threads of a block meet at a statement: a barrier, or a reduction over threads."""
    match node:
        case Evaluate(value=Intrinsic(name=name) as call) if name in _BARRIERS:
            return scope_of(call) != "warp"
        case Evaluate(value=Intrinsic(name="tvm_thread_allreduce")):
            return True
        case _:
            return False


@dataclass(frozen=True, slots=True, eq=False)
class _Reduction:
    """The arguments of a reduction over threads."""

    values: tuple[PrimExpr, ...]
    condition: PrimExpr
    targets: tuple[PrimExpr, ...]
    threads: tuple[PrimExpr, ...]


def _parts_of(node: Evaluate) -> _Reduction:
    match node.value:
        case Intrinsic(args=(IntImm(value=count), *args)):
            values, condition, rest = args[:count], args[count], args[count + 1 :]
            return _Reduction(tuple(values), condition, tuple(rest[:count]), tuple(rest[count:]))
        case value:
            return unsupported(value, "a reduction over threads of a number of values that is no constant")


def _whole(mask: Array) -> Mask:
    return None if mask.all() else mask
