"""Presents a run inside a kernel: its statement, loops, axes, accesses and buffers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, Final, Protocol

import msgspec

from relax_core.inside.memory import Memory
from relax_core.inside.owners import Owners
from relax_core.inside.reading import Access, Reader, values_of
from relax_core.inside.sites import Level, Site, SiteKind
from relax_core.inside.stepper import Stepper
from relax_core.ir.integer.evaluate import NoValueError, evaluate
from relax_core.ir.node import Node
from relax_core.ir.notation.show import show_prim
from relax_core.ir.prim import PrimExpr, PrimVar
from relax_core.ir.tir import Block, Buffer, For, IterVar
from relax_core.present.code import code_lines
from relax_core.present.running.inside_models import (
    InsideAccess,
    InsideAxis,
    InsideBuffer,
    InsideLoop,
    InsideStop,
    InsideView,
)

LARGEST_WINDOW: Final = 512


@dataclass(frozen=True, slots=True, eq=False)
class Listing:
    """The text that is stepped through, and where its nodes are: the lines, and half-open ranges of code points."""

    text: str
    line_of: Callable[[Node], int]
    range_of: Callable[[Node], tuple[int, int]]


def present_inside(stepper: Stepper, listing: Listing, *, is_found: bool = True, seconds: float = 0.0) -> InsideView:
    """Present where a run is."""
    site, memory = stepper.site, stepper.memory
    values = {} if site is None else values_of(site, memory)
    block = site.block.node if site is not None and site.block is not None else None
    assert block is None or isinstance(block, Block), "the level of a block is a block"
    accesses = () if site is None else _accesses(stepper, site, values, listing)
    is_failing = stepper.stopped is not None and stepper.clock == stepper.total
    found = (0, 0) if site is None else listing.range_of(site.node)
    return InsideView(
        kernel=stepper.layout.name,
        text=listing.text,
        line=0 if site is None else listing.line_of(site.node),
        range_start=found[0],
        range_end=found[1],
        clock=stepper.clock,
        total=-1 if stepper.total is None else stepper.total,
        is_ended=stepper.is_ended,
        is_found=is_found,
        kind="" if site is None else site.kind,
        phase="" if site is None else site.phase,
        block="" if block is None else block.name,
        loops=_loops(stepper, site, values, listing),
        axes=() if block is None else _axes(block, values, stepper.memory.sizes),
        where="" if block is None or block.predicate is None else show_prim(block.predicate),
        lets=() if site is None else _lets(site, values),
        accesses=accesses,
        buffers=_buffers(stepper),
        sentence=_sentence(site, accesses),
        statement_lines=tuple(sorted({listing.line_of(item.node) for item in stepper.layout.sites} - {0})),
        problem=_problem(stepper) if is_failing else "",
        checkpoints=tuple(item.clock for item in stepper.checkpoints),
        milliseconds=round(seconds * 1000, 1),
    )


def _problem(stepper: Stepper) -> str:
    assert stepper.stopped is not None, "the run stops by itself"
    return "\n".join(item.render() for item in stepper.stopped.diagnostics)


def _loops(
    stepper: Stepper, site: Site | None, values: Mapping[PrimVar, Any], listing: Listing
) -> tuple[InsideLoop, ...]:
    around = () if site is None else site.levels
    known = {**stepper.memory.sizes, **values}
    levels = _levels(stepper)
    return tuple(_loop(level, known, stepper.memory, listing, is_around=level in around) for level in levels)


def _levels(stepper: Stepper) -> list[Level]:
    """Return the loops and blocks that are shown: those that a reduction over nothing leaves, if there is one."""
    has_run = stepper.site is not None and any(level.is_spare for level in stepper.site.levels)
    return [level for level in stepper.layout.levels if has_run or not level.is_spare]


def _loop(
    level: Level, values: Mapping[PrimVar, Any], memory: Memory, listing: Listing, *, is_around: bool
) -> InsideLoop:
    node, line = level.node, listing.line_of(level.node)
    depth, outer = 0, level.parent
    while outer is not None:
        depth, outer = depth + 1, outer.parent
    start, end = listing.range_of(node)
    match node:
        case Block(name=name):
            return InsideLoop(level.number, name, "block", depth, line, is_around, range_start=start, range_end=end)
        case For(var=var, step=step):
            first, last = _bounds(level, node, values, memory, is_around=is_around)
            value = int(values[var]) if is_around else 0
            by = _integer(step, values) if step is not None else 1
            return InsideLoop(
                level.number, var.name, "for", depth, line, is_around, value, first, last, by or 1, start, end
            )
        case _:
            return InsideLoop(level.number, "while", "while", depth, line, is_around, range_start=start, range_end=end)


def _bounds(
    level: Level, loop: For, values: Mapping[PrimVar, Any], memory: Memory, *, is_around: bool
) -> tuple[int, int]:
    """Return the values of a loop, from the first to behind the last one; two equal ones if they are not known."""
    first = _integer(loop.start, values)
    if level.last is not None:
        return (first or 0, int(memory.words[level.last.word])) if is_around else (0, 0)
    extent = _integer(loop.extent, values)
    return (0, 0) if first is None or extent is None else (first, first + extent)


def _integer(expr: PrimExpr, values: Mapping[PrimVar, Any]) -> int | None:
    """Return the value of an expression of loops and sizes."""
    try:
        return int(evaluate(expr, values))
    except NoValueError:
        return None


def _axes(block: Block, values: Mapping[PrimVar, Any], sizes: Mapping[PrimVar, Any]) -> tuple[InsideAxis, ...]:
    return tuple(
        InsideAxis(item.var.name, item.kind, show_prim(item.binding), int(values[item.var]), _extent(item, sizes))
        for item in block.iter_vars
        if item.var in values
    )


def _extent(axis: IterVar, sizes: Mapping[PrimVar, Any]) -> str:
    known = _integer(axis.extent, sizes)
    return show_prim(axis.extent) if known is None else f"{known:,}"


def _lets(site: Site, values: Mapping[PrimVar, Any]) -> tuple[tuple[str, str], ...]:
    """Return the variables around a statement that are neither those of loops nor axes of blocks."""
    own: set[PrimVar] = set()
    for level in site.levels:
        match level.node:
            case For(var=var):
                own.add(var)
            case Block(iter_vars=axes):
                own.update(item.var for item in axes)
            case _:
                pass
    return tuple(
        (slot.var.name, shown(values[slot.var])) for slot in site.slots if not slot.is_hidden and slot.var not in own
    )


def with_window(view: InsideView, stepper: Stepper, listing: Listing, count: int) -> InsideView:
    """Add the lines with their tokens, and what stands at `count` statements around the present one, which stays."""
    here, stops, levels = stepper.clock, list[InsideStop](), _levels(stepper)
    stepper.move_to(max(here - count // 2, 0))
    while not stepper.is_ended and len(stops) <= count:
        stops.append(_stop(stepper, listing, levels))
        if stepper.clock == stops[-1].clock:
            break
    stepper.move_to(here)
    return msgspec.structs.replace(view, text="", lines=code_lines(listing.text), stops=tuple(stops))


class Movable(Protocol):
    """A run that goes to any of its statements."""

    @property
    def clock(self) -> int:
        """How many statements have run."""
        ...

    def move_to(self, clock: int) -> None:
        """Stop before a statement."""
        ...


def with_watches(
    view: InsideView, run: Movable, watches: tuple[str, ...], value_of: Callable[[str], Any]
) -> InsideView:
    """Add what expressions are here, and at each statement of the window; the run stays where it is."""

    def values() -> tuple[str, ...]:
        found = map(value_of, watches)
        return tuple("-" if item is None else shown(item) for item in found)

    here, watched, stops = run.clock, tuple(zip(watches, values(), strict=True)), list[InsideStop]()
    for stop in view.stops:
        run.move_to(stop.clock)
        stops.append(msgspec.structs.replace(stop, watched=values()))
    run.move_to(here)
    return msgspec.structs.replace(view, watched=watched, stops=tuple(stops))


def _stop(stepper: Stepper, listing: Listing, levels: list[Level]) -> InsideStop:
    """Present the statement that runs next, and run it."""
    site, clock = stepper.site, stepper.clock
    assert site is not None, "the run has not ended"
    values = values_of(site, stepper.memory)
    level = site.block
    block = level.node if level is not None and isinstance(level.node, Block) else None
    known = {**stepper.memory.sizes, **values}
    loops = (_loop(item, known, stepper.memory, listing, is_around=True) if item in site.levels else None
             for item in levels)  # fmt: skip
    accesses = _read(stepper, site, values)
    stepper.run_statement()
    shown_accesses = _accessed(accesses, stepper, listing)
    start, end = listing.range_of(site.node)
    return InsideStop(
        clock, listing.line_of(site.node), start, end, site.phase, -1 if level is None else level.number,
        tuple(() if item is None else (item.value, item.start, item.end) for item in loops),
        () if block is None else _axes(block, values, stepper.memory.sizes),
        "" if block is None or block.predicate is None else show_prim(block.predicate),
        _lets(site, values), shown_accesses, _sentence(site, shown_accesses),
    )  # fmt: skip


def _accesses(
    stepper: Stepper, site: Site, values: Mapping[PrimVar, Any], listing: Listing
) -> tuple[InsideAccess, ...]:
    found = _read(stepper, site, values)
    return stepper.peek(lambda: _accessed(found, stepper, listing))


def _read(stepper: Stepper, site: Site, values: Mapping[PrimVar, Any]) -> tuple[Access, ...]:
    """Return what a statement touches."""
    reader = Reader(values, stepper.memory, Owners(stepper.function))
    reader.statement(site.node)
    return tuple(reader.accesses)


def _accessed(accesses: tuple[Access, ...], stepper: Stepper, listing: Listing) -> tuple[InsideAccess, ...]:
    """Present what a statement touched, behind it: a store with what it left."""
    arrays = stepper.memory.array_of

    def after(item: Access) -> str:
        is_left = item.is_write and item.is_inside and item.buffer in arrays
        return shown(arrays[item.buffer][item.indices]) if is_left else ""

    return tuple(_access(item, after(item), listing, arrays) for item in accesses)


def _access(item: Access, after: str, listing: Listing, arrays: Mapping[Buffer, Any]) -> InsideAccess:
    start, end = listing.range_of(item.node)
    value = "" if item.value is None else shown(item.value)
    flat = -1
    if not item.is_inside and item.buffer in arrays:
        shape = arrays[item.buffer].shape
        found = sum(index * prod(shape[axis + 1 :]) for axis, index in enumerate(item.indices))
        flat = found if 0 <= found < prod(shape) else -1
    return InsideAccess(item.buffer.name, item.indices, item.is_write, item.is_inside, value, after, flat, start, end)


def _buffers(stepper: Stepper) -> tuple[InsideBuffer, ...]:
    memory = stepper.memory
    own = {buffer for _, buffer in stepper.layout.allocated}
    return tuple(
        InsideBuffer(
            buffer.name,
            memory.array_of[buffer].shape,
            buffer.dtype,
            buffer.scope,
            memory.array_of[buffer].nbytes,
            buffer not in own,
            any(item is memory.array_of[buffer] for item in memory.written),
        )
        for buffer in stepper.layout.buffers
    )


def _sentence(site: Site | None, accesses: tuple[InsideAccess, ...]) -> str:
    return "The kernel has ended." if site is None else sentence_of(site.kind, site.phase, accesses)


def sentence_of(kind: SiteKind, of_phase: str, accesses: tuple[InsideAccess, ...]) -> str:
    """Say what a statement does."""
    reads = [f"{item.cell} = {item.value}" if item.value else item.cell for item in accesses if not item.is_write]
    writes = [item for item in accesses if item.is_write]
    parts: list[str] = []
    if reads:
        parts.append(f"reads {', '.join(dict.fromkeys(reads))}")
    parts += [f"writes {item.cell}: {item.value or '?'} becomes {item.after}" for item in writes if item.is_inside]
    parts += [f"{item.cell} is out of range" for item in accesses if not item.is_inside]
    what = {"store": "A store", "branch": "A test", "assert": "An assertion", "evaluate": "A call"}[kind]
    phase = f" of the {of_phase}" if of_phase else ""
    return f"{what}{phase} {'; '.join(parts)}." if parts else f"{what}{phase}."


def shown(value: Any, digits: int = 6) -> str:
    """Return a number in so many digits."""
    plain: Any = value.item() if hasattr(value, "item") else value
    return f"{plain:.{digits}g}" if isinstance(plain, float) else str(plain)
