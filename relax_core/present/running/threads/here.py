"""Presents where the threads of a block are: the statement of the warp that runs, who waits, and what is told of it."""

from collections.abc import Iterator, Mapping
from math import prod
from types import MappingProxyType
from typing import Final

import msgspec
import numpy as np

from relax_core.diagnostics import plural
from relax_core.inside.sites import SiteKind
from relax_core.inside.threads.block import BlockRun, WarpRun, is_step
from relax_core.inside.threads.conditions import variables_around
from relax_core.inside.threads.looking import Glance, Root, Seen, element_of, glance, roots_of
from relax_core.inside.threads.stepper import ThreadStepper
from relax_core.ir.node import Node, children, preorder
from relax_core.ir.notation.show import show_prim
from relax_core.ir.prim import Intrinsic
from relax_core.ir.tir import (
    AssertStmt,
    Block,
    BufferStore,
    Evaluate,
    For,
    IfThenElse,
    LaunchThread,
    LetStmt,
    Stmt,
    While,
)
from relax_core.ops.kernels.numbers import numpy_type
from relax_core.present.code import code_lines
from relax_core.present.running.inside import Listing, sentence_of, shown
from relax_core.present.running.inside_models import (
    InsideAccess,
    InsideAxis,
    InsideBuffer,
    InsideLoop,
    InsideStop,
    InsideThreads,
    InsideView,
    ThreadGroup,
    ThreadsHere,
)
from relax_core.simt.findings import text_of
from relax_core.simt.frames import Frame
from relax_core.simt.lanes import WARP
from relax_core.simt.statements import meets
from relax_core.simt.traffic import AccessCost

_LETTERS: Final[Mapping[str, str]] = MappingProxyType(
    {"runs": "r", "ready": "g", "waits": "w", "off": "o", "ended": "e"}
)


_MOST_RANGES: Final = 6


class Presenter:
    """Shows a block of a launch; `thread` is the one that was chosen."""

    def __init__(self, stepper: ThreadStepper, listing: Listing, thread: int, order: str, launch: int) -> None:
        self._stepper = stepper
        self._listing = listing
        self._thread = min(max(thread, 0), stepper.run.grid.thread_count - 1)
        self._order = order
        self._launch = launch
        self._loops = tuple(_loops(stepper.start.body, 0))

    def view(self, *, is_found: bool, seconds: float) -> InsideView:
        """Present where the run is."""
        stepper, run = self._stepper, self._stepper.run
        stop = self._stop() if run.running is not None else None
        node = None if run.running is None or run.running.next is None else run.running.next[0]
        is_failing = stepper.stopped is not None and stepper.clock == stepper.total
        places = stop.loops if stop is not None else ()
        return InsideView(
            kernel=stepper.start.name,
            text=self._listing.text,
            line=0 if stop is None else stop.line,
            range_start=0 if stop is None else stop.range_start,
            range_end=0 if stop is None else stop.range_end,
            clock=stepper.clock,
            total=-1 if stepper.total is None else stepper.total,
            is_ended=stop is None,
            is_found=is_found,
            kind="" if node is None else kind_of(node),
            phase="",
            block=self._block_name(stop),
            loops=tuple(self._loop(number, places) for number in range(len(self._loops))),
            axes=() if stop is None else stop.axes,
            where="" if stop is None else stop.where,
            lets=() if stop is None else stop.lets,
            accesses=() if stop is None else stop.accesses,
            buffers=tuple(map(_buffer, roots_of(run))),
            sentence="The block has ended." if stop is None else stop.sentence,
            statement_lines=tuple(sorted(self._lines() - {0})),
            problem="\n".join(item.render() for item in stepper.stopped.diagnostics)
            if is_failing and stepper.stopped is not None else "",
            milliseconds=round(seconds * 1000, 1),
            threads=self._threads(stop),
        )  # fmt: skip

    def _threads(self, stop: InsideStop | None) -> InsideThreads:
        run, found = self._stepper.run, self._stepper.found
        here = self._ended() if stop is None or stop.threads is None else stop.threads
        wrong = [clock for clock, told in found.items() if any(item.severity != "note" for item in told)]
        return InsideThreads(
            grid=f"{plural(run.grid.block_count, 'block')} of {plural(run.grid.thread_count, 'thread')}",
            block=run.block,
            block_count=run.grid.block_count,
            thread=self._thread,
            thread_count=run.grid.thread_count,
            launch=self._launch,
            order=self._order,
            here=here,
            reported=tuple(sorted(wrong)),
        )

    def with_window(self, view: InsideView, count: int) -> InsideView:
        """Add the lines with their tokens, and what stands at `count` statements around this one, which stays."""
        stepper = self._stepper
        here, stops = stepper.clock, list[InsideStop]()
        stepper.move_to(max(here - count // 2, 0))
        while stepper.run.running is not None and len(stops) <= count:
            stops.append(self._stop())
            stepper.move_to(stepper.clock + 1)
            if stepper.clock == stops[-1].clock:
                break
        stepper.move_to(here)
        return msgspec.structs.replace(view, text="", lines=code_lines(self._listing.text), stops=tuple(stops))

    def _lines(self) -> set[int]:
        return {
            self._listing.line_of(node)
            for node in preorder(self._stepper.start.body)
            if isinstance(node, Stmt) and is_step(node)
        }

    def _stop(self) -> InsideStop:
        """Present the statement that runs next."""
        run, listing = self._stepper.run, self._listing
        warp = run.running
        assert warp is not None
        assert warp.next is not None
        node, mask = warp.next
        active = np.flatnonzero(warp.state.lanes.full(mask))
        own = self._thread % WARP if self._thread // WARP == warp.number else -1
        lane = own if own in active else int(active[0])
        seen = glance(run, warp)
        accesses = tuple(self._accesses(seen, lane))
        start, end = listing.range_of(node)
        block = next((at for at in range(len(self._loops) - 1, -1, -1) if isinstance(self._loops[at][0], Block)
                      and _frame_of(warp, self._loops[at][0]) is not None), -1)  # fmt: skip
        return InsideStop(
            self._stepper.clock, listing.line_of(node), start, end, "", block,
            tuple(_place(warp, loop, lane) for loop, _ in self._loops),
            _axes(warp, lane), "", _lets(warp, lane), accesses, _sentence(node, accesses),
            self._here(warp, lane, seen),
        )  # fmt: skip

    def _accesses(self, seen: Glance, lane: int) -> Iterator[InsideAccess]:
        """Yield what a lane touches, each with what the others touch by it."""
        own = [item for item in seen.seen if item.lane == lane]
        for at, item in enumerate(own):
            like = (item.node, item.is_write, item.root)
            others = {
                _flat(other)
                for other in seen.seen
                if other.lane != lane and (other.node, other.is_write, other.root) == like
            }
            is_first = all(other.node is not item.node or other.is_write != item.is_write for other in own[:at])
            yield _access(item, self._listing, tuple(sorted(others)) if is_first and item.root is not None else ())

    def _here(self, warp: WarpRun, lane: int, seen: Glance) -> ThreadsHere:
        groups = tuple(self._groups())
        told = self._stepper.found.get(self._stepper.clock, ())
        first = int(warp.state.lanes.inside[0])
        return ThreadsHere(
            self._states(), groups, warp.number, first + lane, tuple(item.render() for item in told),
            tuple(filter(None, map(cost_words, seen.costs))),
        )  # fmt: skip

    def _ended(self) -> ThreadsHere:
        return ThreadsHere(self._states(), tuple(self._groups()), 0, self._thread)

    def _states(self) -> str:
        return "".join(_LETTERS[state] for state, _, _ in self._each())

    def _each(self) -> Iterator[tuple[str, int, str]]:
        """Yield of each thread its state, the line, and the text there."""
        run = self._stepper.run
        for warp in run.warps:
            count = warp.state.lanes.count
            if warp.next is None:
                yield from [("ended", 0, "")] * count
                continue
            node, mask = warp.next
            full = warp.state.lanes.full(mask)
            state = "runs" if warp is run.running else "waits" if warp.is_waiting else "ready"
            place = (state, self._listing.line_of(node), "")
            for lane in range(count):
                yield place if full[lane] else self._off(warp, lane)

    def _off(self, warp: WarpRun, lane: int) -> tuple[str, int, str]:
        """Return where a lane waits: at the condition that left it out."""
        frames = warp.frames
        out = next(at for at, frame in enumerate((*frames, None)) if frame is None or not _takes_part(frame, lane))
        cause = next((frame.condition for frame in reversed(frames[:out]) if frame.condition is not None), None)
        if cause is None:
            return "off", 0, ""
        return "off", self._listing.line_of(cause), text_of(cause)

    def _groups(self) -> Iterator[ThreadGroup]:
        of: dict[tuple[str, int, str], list[int]] = {}
        for thread, place in enumerate(self._each()):
            of.setdefault(place, []).append(thread)
        for (state, line, text), threads in of.items():
            yield ThreadGroup(state, _ranges(threads), len(threads), line, text)

    def _loop(self, number: int, places: tuple[tuple[int, ...], ...]) -> InsideLoop:
        node, depth = self._loops[number]
        start, end = self._listing.range_of(node)
        place = places[number] if number < len(places) else ()
        match node:
            case For(var=var):
                name, kind = var.name, "for"
            case Block(name=name):
                kind = "block"
            case _:
                name, kind = "while", "while"
        step = _step_of(self._stepper.run, node)
        value, first, last = place if len(place) == 3 else (0, 0, 0)
        line = self._listing.line_of(node)
        return InsideLoop(number, name, kind, depth, line, bool(place), value, first, last, step, start, end)

    def _block_name(self, stop: InsideStop | None) -> str:
        node = None if stop is None or stop.block < 0 else self._loops[stop.block][0]
        return node.name if isinstance(node, Block) else ""


def _sentence(node: Stmt, accesses: tuple[InsideAccess, ...]) -> str:
    match node:
        case Evaluate(value=Intrinsic(name="tvm_thread_allreduce")):
            return "A reduction: the threads of the block give their values, and get what these come to."
        case _ if meets(node):
            return "A barrier: no thread of the block goes on before all are here."
        case _:
            return sentence_of(kind_of(node), "", accesses)


def kind_of(node: Stmt) -> SiteKind:
    """Return what kind of step a statement is."""
    match node:
        case BufferStore():
            return "store"
        case IfThenElse():
            return "branch"
        case AssertStmt():
            return "assert"
        case _:
            return "evaluate"


def cost_words(cost: AccessCost) -> str:
    """Say what an access costs a warp, if that is more than it need be."""
    text = f"the {cost.way} `{text_of(cost.node)}`"
    if cost.worst > 1:
        return f"{text}: {cost.worst}-way bank conflict"
    if cost.sectors > cost.ideal_sectors:
        return f"{text}: {cost.sectors} sectors of 32 bytes, {cost.ideal_sectors} would do"
    return ""


def _takes_part(frame: Frame, lane: int) -> bool:
    return frame.mask is None or bool(frame.mask[lane])


def _loops(node: Node, depth: int) -> Iterator[tuple[For | While | Block, int]]:
    """Yield the loops and blocks in the order of the text, with how many are around each."""
    stack = [(node, depth)]
    while stack:
        item, around = stack.pop()
        is_level = isinstance(item, For | While | Block)
        if isinstance(item, For | While | Block):
            yield item, around
        parts = [(part, around + is_level) for part in children(item) if isinstance(part, Stmt)]
        stack += reversed(parts)


def _frame_of(warp: WarpRun, node: Node) -> Frame | None:
    return next((frame for frame in warp.frames if frame.node is node), None)


def _place(warp: WarpRun, node: For | While | Block, lane: int) -> tuple[int, ...]:
    """Return the value of a loop with its first and last one, zeros for a block; nothing if the warp is not in it."""
    frame = _frame_of(warp, node)
    if frame is None:
        return ()
    if not isinstance(node, For) or frame.span is None:
        return (0, 0, 0)
    first, last, _ = (int(element_of(item, lane)) for item in frame.span)
    return int(element_of(warp.state.variables[node.var], lane)), first, last


def _step_of(run: BlockRun, node: Node) -> int:
    frame = None if run.running is None else _frame_of(run.running, node)
    return 1 if frame is None or frame.span is None else int(element_of(frame.span[2], 0))


def _lets(warp: WarpRun, lane: int) -> tuple[tuple[str, str], ...]:
    """Return the numbers of the thread and the variables around a statement."""
    own = {frame.node.var for frame in warp.frames if isinstance(frame.node, LaunchThread | LetStmt)}
    # TVM launches threads of one axis several times, under one name.
    found = {
        var.name: shown(element_of(warp.state.variables[var], lane)) for var in variables_around(warp) if var in own
    }
    return tuple(found.items())


def _axes(warp: WarpRun, lane: int) -> tuple[InsideAxis, ...]:
    block = next((frame.node for frame in reversed(warp.frames) if isinstance(frame.node, Block)), None)
    if not isinstance(block, Block):
        return ()
    return tuple(
        InsideAxis(item.var.name, item.kind, show_prim(item.binding),
                   int(element_of(warp.state.variables[item.var], lane)), show_prim(item.extent))
        for item in block.iter_vars
        if item.var in warp.state.variables
    )  # fmt: skip


def _flat(item: Seen) -> int:
    return -1 if item.root is None else int(np.ravel_multi_index(item.indices, item.root.shape)) if item.indices else 0


def _access(item: Seen, listing: Listing, others: tuple[int, ...]) -> InsideAccess:
    start, end = listing.range_of(item.node)
    name = item.name if item.root is None else item.root.name
    after = "" if item.after is None else shown(item.after)
    value = "" if item.value is None else shown(item.value)
    return InsideAccess(name, item.indices, item.is_write, item.is_inside, value, after, -1, start, end, others)


def _buffer(root: Root) -> InsideBuffer:
    size = prod(root.shape) * numpy_type(root.dtype).itemsize
    return InsideBuffer(root.name, root.shape, root.dtype, root.scope, size, root.scope == "global", root.is_written)


def _ranges(threads: list[int]) -> str:
    """Return numbers with neighbours taken together: `0-31, 64`."""
    parts: list[list[int]] = []
    for thread in threads:
        if parts and parts[-1][1] == thread - 1:
            parts[-1][1] = thread
        else:
            parts.append([thread, thread])
    words = [str(low) if low == high else f"{low}-{high}" for low, high in parts]
    return ", ".join(words if len(words) <= _MOST_RANGES else [*words[:_MOST_RANGES], "..."])
