"""Statements of TIR in all lanes at once; a branch runs for the lanes that take it."""

from collections.abc import Callable
from math import prod
from typing import Any, Final

import numpy as np

from relax_core.diagnostics import plural
from relax_core.ir.node import Node
from relax_core.ir.prim import CommReducer, Intrinsic, PrimExpr, PrimVar, StringImm, lanes_of, scalar_of
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
from relax_core.simt.lanes import AXES, Mask
from relax_core.simt.memory import Memory, Registers, View
from relax_core.simt.state import Place, State, Storage, unsupported
from relax_core.simt.values import Value, data_of
from relax_core.simt.warps import all_reduced

_OF_BLOCK: Final = ("shared", "shared.dyn", "global")
_BARRIERS: Final = ("tvm_storage_sync", "cuda.cta_sync", "cuda.warp_sync", "cuda.syncthreads", "cuda.__syncthreads",
                    "cuda.__syncwarp")  # fmt: skip
_SILENT: Final = ("assume", "hint", "cuda.thread_fence")


class Statements:
    """Runs the body of a kernel in the lanes of a state."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.expressions = Expressions(state)
        self._reducers: list[CommReducer] = []
        self._rules: dict[type[Stmt], Callable[[Any, Mask], None]] = {
            SeqStmt: self._sequence, BufferStore: self._store, For: self._for, While: self._while,
            IfThenElse: self._if, LetStmt: self._let, AssertStmt: self._assert, Evaluate: self._evaluate,
            AttrStmt: self._attribute, LaunchThread: self._launch, Allocate: self._allocate,
            DeclBuffer: self._declare, Block: self._block,
        }  # fmt: skip

    def run(self, node: Stmt, mask: Mask) -> None:
        """Run a statement in the lanes of `mask`.

        Raises:
            RunError: GP010 for what is not simulated, VM008 if it was cancelled.
        """
        self.state.launch.count_statement(node)
        rule = self._rules.get(type(node))
        if rule is None:
            unsupported(node, f"a {type(node).__name__} in a launch")
        rule(node, mask)

    def _sequence(self, node: SeqStmt, mask: Mask) -> None:
        for item in node.stmts:
            self.run(item, mask)

    def _store(self, node: BufferStore, mask: Mask) -> None:
        value = self.expressions.evaluate(node.value, mask)
        indices = tuple([self.expressions.evaluate(item, mask) for item in node.indices])
        self.expressions.accesses.store(node.buffer, indices, value, node, mask)

    def _for(self, node: For, mask: Mask) -> None:
        evaluate, variables = self.expressions.evaluate, self.state.variables
        start, extent = (data_of(evaluate(item, mask)) for item in (node.start, node.extent))
        step = 1 if node.step is None else data_of(evaluate(node.step, mask))
        if not any(is_array(item) for item in (start, extent, step)):
            for number in range(int(start), int(start) + int(extent), int(step)):
                variables[node.var] = number
                self.run(node.body, mask)
            return
        count = np.broadcast_to(-(-np.asarray(extent) // step), (self.state.lanes.count,))
        self.state.conditions.append(node.extent)
        for number in range(int(count[self.state.lanes.full(mask)].max(initial=0))):
            variables[node.var] = start + number * step
            self._branch(node.body, self.state.lanes.full(mask) & (number < count))
        self.state.conditions.pop()

    def _block(self, node: Block, mask: Mask) -> None:
        """Run an instance of a block: its init where every reduction variable is at its start."""
        evaluate = self.expressions.evaluate
        if node.matches:
            unsupported(node.matches[0], "a block's view of a region")
        for item in node.iter_vars:
            self.state.variables[item.var] = evaluate(item.binding, mask)
        if node.predicate is not None:
            mask, _ = self.expressions.narrowed(mask, self.expressions.condition(node.predicate, mask))
            if not self.state.lanes.full(mask).any():
                return
        for buffer in node.alloc_buffers:
            shape, dtype = self._shape(buffer.shape, mask), scalar_of(buffer.dtype)
            self.state.places[buffer] = self._registers(buffer, dtype, shape)
        first: Plain = True
        for item in node.iter_vars if node.init is not None else ():
            if item.kind == "reduce":
                start = 0 if item.start is None else data_of(evaluate(item.start, mask))
                first = BINARY["and"](first, data_of(self.state.variables[item.var]) == start)
        if node.init is not None:
            self._branch(node.init, self.state.lanes.full(mask) & first)
        self.run(node.body, mask)

    def _registers(self, buffer: Buffer, dtype: str, shape: tuple[int, ...]) -> Registers:
        """Return what a block allocates, each time the same, undefined at first."""
        found = self.state.allocated.get(buffer)
        if not isinstance(found, Registers):
            width = lanes_of(buffer.dtype)
            found = Registers(buffer, numpy_type(dtype), width, shape, [None] * prod(shape))
            self.state.allocated[buffer] = found
        return found

    def _while(self, node: While, mask: Mask) -> None:
        active = self.state.lanes.full(mask)
        self.state.conditions.append(node.condition)
        while (active := active & self.expressions.condition(node.condition, active)).any():
            self._branch(node.body, active)
        self.state.conditions.pop()

    def _branch(self, node: Stmt, mask: "np.ndarray[Any, Any]") -> None:
        if mask.all():
            self.run(node, None)
        elif mask.any():
            self.run(node, mask)

    def _if(self, node: IfThenElse, mask: Mask) -> None:
        condition = self.expressions.condition(node.condition, mask)
        if not is_array(condition):
            chosen = node.then_body if condition else node.else_body
            if chosen is not None:
                self.run(chosen, mask)
            return
        yes, no = self.expressions.narrowed(mask, condition)
        assert yes is not None
        assert no is not None
        self.state.conditions.append(node.condition)
        self._branch(node.then_body, yes)
        if node.else_body is not None:
            self._branch(node.else_body, no)
        self.state.conditions.pop()

    def _let(self, node: LetStmt, mask: Mask) -> None:
        if isinstance(storage := self._storage(node.value), Memory | Registers):
            self.state.storage[node.var] = storage
        else:
            self.state.variables[node.var] = self.expressions.evaluate(node.value, mask)
            if self.expressions.is_fixed(node.value):
                self.expressions.fixed.add(node.var)
        self.run(node.body, mask)

    def _assert(self, node: AssertStmt, mask: Mask) -> None:
        condition = self.expressions.condition(node.condition, mask)
        failed = self.state.lanes.full(mask) & np.logical_not(condition)
        if failed.any():
            lanes = self.state.lanes
            place = lanes.grid.place(int(lanes.thread[np.flatnonzero(failed)[0]]))
            message = f"an assertion fails in {place}: {node.message}"
            self.state.launch.findings.add("GP009", message, node, lanes.thread[failed])

    def _attribute(self, node: AttrStmt, mask: Mask) -> None:
        if node.key == "thread_extent":
            unsupported(node, "a launch that is written as an attribute")
        match node:
            case AttrStmt(key="reduce_scope", subject=CommReducer() as reducer):
                self._reducers.append(reducer)
                self.run(node.body, mask)
                self._reducers.pop()
            case _:
                self.run(node.body, mask)

    def _launch(self, node: LaunchThread, mask: Mask) -> None:
        kind = node.tag.partition(".")[0]
        if kind in ("blockIdx", "threadIdx"):
            self.state.variables[node.var] = self.state.lanes.numbers(node.tag, node.var.dtype)
            self.state.tag_of[node.var] = node.tag
            self.expressions.fixed.add(node.var)
            self.run(node.body, mask)
        elif kind in ("vthread", "cthread"):
            for number in range(int(data_of(self.expressions.evaluate(node.extent, mask)))):
                self.state.variables[node.var] = number
                self.run(node.body, mask)
        else:
            unsupported(node, f"a launch of `{node.tag}`")

    def _allocate(self, node: Allocate, mask: Mask) -> None:
        buffer = Buffer(node.var.name, node.extents, scalar_of(node.dtype), scope=node.scope, span=node.span)
        shape = self._shape(node.extents, mask)
        made = self.state.allocate(node, buffer, scalar_of(node.dtype), lanes_of(node.dtype), shape)
        self.state.storage[node.var] = made
        self.run(node.body, mask)

    def _declare(self, node: DeclBuffer, mask: Mask) -> None:
        buffer = node.buffer
        shape, (dtype, width) = self._shape(buffer.shape, mask), (scalar_of(buffer.dtype), lanes_of(buffer.dtype))
        if node.pointer is None:
            storage: Storage | None = self.state.allocate(node, buffer, dtype, width, shape)
        else:
            storage = self._storage(node.pointer)
        if storage is None:
            unsupported(node, f"the memory of `{buffer.name}`")
        self.state.places[buffer] = self._place(node, storage, shape, mask)
        self.run(node.body, mask)

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
                    self._barrier(node, call, mask)
            case Intrinsic(name="tvm_thread_allreduce", args=args):
                self._reduce(node, args, mask)
            case Intrinsic(
                name="cuda.atomic_add" | "atomic_add", args=(Intrinsic(name="address_of", args=(target,)), value)
            ):
                self._atomic_add(node, target, value, mask)
            case Intrinsic(name=name) if name in _SILENT:
                pass
            case value:
                self.expressions.evaluate(value, mask)

    def _atomic_add(self, node: Evaluate, target: PrimExpr, value: PrimExpr, mask: Mask) -> None:
        """Add for one lane after the other, so that lanes that meet in one cell all count."""
        if not isinstance(target, BufferLoad):
            unsupported(node)
        evaluate, accesses = self.expressions.evaluate, self.expressions.accesses
        indices = tuple(evaluate(item, mask) for item in target.indices)
        amount = evaluate(value, mask)
        for lane in np.flatnonzero(self.state.lanes.full(mask)):
            alone = np.zeros(self.state.lanes.count, np.bool_)
            alone[lane] = True
            old = accesses.load(target.buffer, indices, node, alone, is_atomic=True)
            accesses.store(target.buffer, indices, _sum(old, amount), node, alone, is_atomic=True)

    def _barrier(self, node: Evaluate, call: Intrinsic, mask: Mask) -> None:
        scope = call.args[0].value if call.args and isinstance(call.args[0], StringImm) else "shared"
        is_of_warp = scope == "warp" or "warp" in call.name
        if not is_of_warp and scope not in _OF_BLOCK:
            unsupported(node, f"a barrier of the scope `{scope}`")
        state, lanes = self.state, self.state.lanes
        arrived = lanes.full(mask)
        groups = lanes.warp if is_of_warp else lanes.block_in_batch
        sizes, counts = np.bincount(groups), np.bincount(groups, weights=arrived, minlength=int(groups[-1]) + 1)
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
        why = self.state.conditions[-1] if self.state.conditions else None
        words = "" if why is None else f"; `{text_of(why)}`{at_line(why.span)} differs between them"
        message = (
            f"divergent barrier: {int((inside & arrived).sum())} of {plural(int(inside.sum()), 'thread')} reach it, "
            f"and the first that does not is {lanes.grid.place(int(lanes.thread[missing[0]]))}{words}"
        )
        self.state.launch.findings.add("GP004", message, node, lanes.thread[missing], "missing thread")

    def _reduce(self, node: Evaluate, args: tuple[PrimExpr, ...], mask: Mask) -> None:
        evaluate, reducer = self.expressions.evaluate, self._reducers[-1] if self._reducers else None
        count = int(data_of(evaluate(args[0], mask)))
        values, condition = args[1 : 1 + count], args[1 + count]
        targets, threads = args[2 + count : 2 + 2 * count], args[2 + 2 * count :]
        if reducer is None or len(reducer.params) != 2 * count:
            unsupported(node, "a reduction over threads outside of its reducer")
        holds = evaluate(condition, mask)
        given = [
            self.expressions.chosen(holds, evaluate(value, mask), evaluate(identity, mask), mask)
            for value, identity in zip(values, reducer.identity, strict=True)
        ]
        tags = [self.state.tag_of.get(item, "") if isinstance(item, PrimVar) else "" for item in threads]
        axes = [AXES.index(tag[-1]) for tag in tags if tag]
        results = all_reduced(given, axes, lambda a, b: self._combined(reducer, a, b), self.state.lanes)
        self._barrier(node, Intrinsic("tvm_storage_sync", (StringImm("shared"),), "int32"), mask)
        for target, result in zip(targets, results, strict=True):
            if not isinstance(target, BufferLoad):
                unsupported(node)
            indices = tuple(evaluate(item, mask) for item in target.indices)
            self.expressions.accesses.store(target.buffer, indices, result, node, mask)

    def _combined(self, reducer: CommReducer, left: tuple[Value, ...], right: tuple[Value, ...]) -> tuple[Value, ...]:
        self.state.variables.update(zip(reducer.params, (*left, *right), strict=True))
        return tuple(self.expressions.evaluate(item, None) for item in reducer.results)


def _sum(a: Value, b: Plain) -> Value:
    return data_of(a) + data_of(b)
