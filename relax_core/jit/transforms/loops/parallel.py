"""Parallel loops: a large nest is cut into chunks along one spatial axis, which the threads of a pool claim in turn."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from relax_core.ir.node import Node, postorder
from relax_core.ir.prim import IntImm, Intrinsic, PrimExpr, PrimVar, binary
from relax_core.ir.rewriting.rewrite import RewriteLog, rewrite
from relax_core.ir.tir import For, IfThenElse, Stmt
from relax_core.jit.lowering.known.work import static_work
from relax_core.jit.lowering.memory.storage import Visible
from relax_core.jit.lowering.parts import OWN_WORDS, call_parts
from relax_core.jit.lowering.scalars.intrinsics import CALLS
from relax_core.jit.lowering.state import State
from relax_core.jit.options import Mode
from relax_core.jit.transforms.contractions.plan import plan_tiling
from relax_core.jit.transforms.contractions.read import read_contraction
from relax_core.jit.transforms.loop_nest import Axis, Nest
from relax_core.jit.transforms.nest import read_nest
from relax_core.jit.transforms.origins import note_rewritten
from relax_core.jit.transforms.transform import Plan, Refusal, Transform

MODES: frozenset[Mode] = frozenset(("bitwise", "exact", "fast"))
# A nest of less work than this is over before other threads are awake.
LEAST_NANOSECONDS = 50_000
# What claiming a chunk costs is small against this.
CHUNK_NANOSECONDS = 20_000
# In mode "fast" the code for fewer rows may be another than for all of them.
LEAST_FAST = 4
# A thread that is late leaves its chunks to the others: so many are there for each.
CHUNKS_PER_THREAD = 8
# With vectors of so many lanes four units of work are done in a nanosecond, and memory gives so many bytes.
UNITS_PER_LANE = 4
BYTES_PER_NANOSECOND = 100


@dataclass(frozen=True, slots=True)
class Cut:
    """An axis cut into `count` chunks of `size` values, and a last one of `rest`, if that is not 0."""

    nest: Nest
    axis: Axis
    size: int

    @property
    def count(self) -> int:
        """How many chunks are of full size."""
        return self.axis.extent // self.size

    @property
    def rest(self) -> int:
        """How many values are left for the last."""
        return self.axis.extent % self.size


def plan_parallel(state: State, loop: For) -> Plan | Refusal | None:
    """Plan the chunks of a nest that is in no other loop; their code is written apart, to see whether it may stop."""
    if state.options.threads < 2 or state.environment.active or state.position.loops or state.position.inlined:
        return None
    work = static_work(state, loop)
    if work is None or work < LEAST_NANOSECONDS:
        return None
    nest = read_nest(state, loop)
    if isinstance(nest, str):
        return Refusal(nest)
    nanoseconds = _nanoseconds(state, nest, work)
    if nanoseconds < LEAST_NANOSECONDS:
        return None
    reason = _why_not(nest)
    if reason is not None:
        return Refusal(reason)
    cut = _cut(state, nest, nanoseconds)
    if cut is None:
        return Refusal("no axis is long enough to be cut")
    if state.options.mode == "fast" and min(cut.size, cut.rest or cut.size) < LEAST_FAST:
        return Refusal("a chunk of so few values would be rounded in another way")
    return _planned(state, cut)


# Why the bits stay: chunks cut one spatial axis. The strides of the store are injective over the spatial axes, so
# that two chunks write different elements; no buffer is a view, and whatever else touches the memory of the store is
# the element that the same iteration writes. So no chunk reads or writes what another one writes, and any order of
# them leaves the same memory. All terms of one element belong to one chunk, whose loops run in the order of the text:
# its sum has the order of the text. A chunk whose code may stop, other than by being cancelled, is refused, as
# iterations after the stop might have been run by another thread. In mode "fast" chunks are long enough for the tree
# of a sum not to change.
PARALLEL = Transform("parallel", "Chunks of big nests are run by several threads", MODES, plan_parallel)


def _nanoseconds(state: State, nest: Nest, work: int) -> int:
    """Estimate for how long a nest runs in one thread: as long as its operations or its memory take."""
    touched: dict[str, int] = {}
    for access in nest.accesses.values():
        size = prod(axis.extent for axis in nest.axes if access.offset.of(axis.var))
        name = access.storage.pointer
        touched[name] = max(touched.get(name, 0), size * access.storage.scalar.size_bytes)
    return max(work // (UNITS_PER_LANE * state.options.lanes(32)), sum(touched.values()) // BYTES_PER_NANOSECOND)


def _why_not(nest: Nest) -> str | None:
    """Say why different values of a spatial axis may touch the same element, one of them to write it."""
    if any(isinstance(item, Intrinsic) and item.name in CALLS for item in postorder(nest.update)):
        return "it calls other functions"
    written = nest.accesses[nest.update]
    for access in nest.accesses.values():
        if access.storage.memory is not None:
            return f"`{access.buffer.name}` is a view of other memory"
        if access.storage.pointer == written.storage.pointer and access.offset != written.offset:
            return f"`{access.buffer.name}` is read where another value may be written"
    axis = nest.overlapping
    return None if axis is None else f"different values of `{axis.var.name}` may write the same element"


def _cut(state: State, nest: Nest, nanoseconds: int) -> Cut | None:
    threads = state.options.threads
    count = min(max(nanoseconds // CHUNK_NANOSECONDS, threads), CHUNKS_PER_THREAD * threads)
    columns = _packed_columns(state, nest)
    if columns is not None and columns[0].extent >= 2 * threads * columns[1]:
        return Cut(nest, columns[0], _size(columns[0].extent, count, (columns[1],)))
    long = [axis for axis in nest.spatial if axis.extent >= 2 * count]
    axis = long[0] if long else max(nest.spatial, key=lambda item: item.extent, default=None)
    return None if axis is None or axis.extent < threads else Cut(nest, axis, _size(axis.extent, count, (64, 16, 8, 4)))


def _packed_columns(state: State, nest: Nest) -> tuple[Axis, int] | None:
    """Return the axis along which tiles copy an operand, and their width: chunks of it share no copy."""
    contraction = read_contraction(state, nest.axes[0].loop)
    tiling = None if contraction is None or isinstance(contraction, str) else plan_tiling(state, contraction)
    if tiling is None or isinstance(tiling, str) or not tiling.packed:
        return None
    axis = next((item for item in nest.spatial if item.var is tiling.columns.var), None)
    return None if axis is None else (axis, tiling.width)


def _size(extent: int, count: int, quanta: Sequence[int]) -> int:
    """Return the size of about `count` chunks: a multiple of the first of `quanta` that is not too long."""
    least = -(-extent // count)
    quantum = next((item for item in quanta if item <= least), 1)
    size = -(-least // quantum) * quantum
    # What divides the axis needs no code for a rest.
    fitting = (item for item in range(size, size + size // 2 + 1, quantum) if extent % item == 0)
    return next(fitting, size)


def _planned(state: State, cut: Cut) -> Plan | Refusal:
    """Write the code of a chunk; give it up if it may stop for another reason than that it is cancelled."""
    loop = cut.nest.axes[0].loop
    sites, remarks, checked, calls = (
        len(state.emitted.sites),
        len(state.emitted.remarks),
        len(state.emitted.checked),
        len(state.emitted.packed_calls),
    )
    made: list[Stmt] = []
    number = PrimVar("chunk", cut.axis.var.dtype)
    text = state.code.outlined(lambda: _emit_chunk(state, cut, number, made))
    added = state.emitted.sites[sites:]
    is_proven = all(site.kind == "fuel" for site in added) and len(state.emitted.packed_calls) == calls
    if not is_proven or any(len(site.recorded) + 2 > OWN_WORDS for site in added):
        del (
            state.emitted.sites[sites:],
            state.emitted.remarks[remarks:],
            state.emitted.checked[checked:],
            state.emitted.packed_calls[calls:],
        )
        return Refusal("a chunk of it may stop for more than being cancelled")
    # The loops of a chunk were made for it: what is said of them is said of the one that the user wrote.
    known = {*postorder(loop)}
    state.emitted.sites[sites:] = [site if site.node in known else replace(site, node=loop) for site in added]
    state.emitted.remarks[remarks:] = [
        remark if remark.node in known else replace(remark, node=loop) for remark in state.emitted.remarks[remarks:]
    ]
    word_count = 1 + max((len(site.recorded) for site in added), default=0)
    count = cut.count + bool(cut.rest)

    def emit() -> None:
        state.emitted.parts.append(text)
        call_parts(state, len(state.emitted.parts) - 1, word_count, count)

    reason = f"{count} chunks of {cut.size} values of `{cut.axis.var.name}`"
    return Plan(reason, emit, lambda: (_told(cut, number, made),))


def _told(cut: Cut, number: PrimVar, made: Sequence[Stmt]) -> Stmt:
    """Return the loop over chunks; `made` are the loops of a chunk, before them those of the rest, if there is one."""
    zero, count = IntImm(0, number.dtype), IntImm(cut.count, number.dtype)
    if len(made) == 1:
        return For(number, zero, count, made[0], "parallel")
    body = IfThenElse(binary("<", number, count), made[1], made[0])
    return For(number, zero, IntImm(cut.count + 1, number.dtype), body, "parallel")


def _emit_chunk(state: State, cut: Cut, number: PrimVar, made: list[Stmt]) -> None:
    """Emit the code of one chunk, whose number is in a register, and add its loops to `made`."""
    code = state.code
    dtype = cut.axis.var.dtype
    mark = state.bounds.mark()
    state.bounds.enter_loop(For(number, IntImm(0, dtype), IntImm(cut.count, dtype), cut.nest.axes[0].loop.body))
    scalar = state.scalar_of(number)
    state.define(number, "%chunk" if scalar.bits == 64 else code.emit(f"trunc i64 %chunk to {scalar.register}"))
    # The user knows of no chunk.
    state.environment.visible[-1] = Visible("", "0")
    if cut.rest:
        whole, rest = code.label("whole"), code.label("rest")
        code.branch(code.emit(f"icmp ult i64 %chunk, {cut.count}"), whole, rest)
        code.start(rest)
        made.append(_emit_loops(state, cut, IntImm(cut.count * cut.size, dtype), cut.rest))
        code.do("ret i32 0")
        code.start(whole)
    made.append(_emit_loops(state, cut, binary("*", number, IntImm(cut.size, dtype)), cut.size))
    code.do("ret i32 0")
    state.forget()
    state.bounds.leave(mark)


def _emit_loops(state: State, cut: Cut, start: PrimExpr, extent: int) -> Stmt:
    """Emit the loops of a nest, one of them from `start` over `extent` values, and return them."""
    old = cut.axis.var
    var = PrimVar(old.name, old.dtype, span=old.span)
    value = binary("+", start, var)

    def shifted(item: Node) -> Node | None:
        """Rule: the variable of the loop -> the start of the chunk and the variable of its loop."""
        return value if item is old else None

    inner = cut.nest.axes[-1].loop.body
    body: Stmt = rewrite(inner, shifted, log=RewriteLog())
    note_rewritten(state, body, inner)
    for axis in reversed(cut.nest.axes):
        is_cut = axis is cut.axis
        size = IntImm(extent if is_cut else axis.extent, axis.var.dtype)
        body = replace(axis.loop, var=var if is_cut else axis.var, extent=size, body=body)
        state.provenance.origin[body] = state.provenance.origin.get(axis.loop, axis.loop)
    state.lower_stmt(body)
    return body
