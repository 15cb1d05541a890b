"""Moves through the threads of a block: the words of `inside.moves`, and those for threads.

thread  back thread        to a statement that the chosen thread runs
warp    back warp          to one that its warp runs
barrier back barrier       to where all threads wait that come: the last one arrives
race    back race          to a statement of which something is told that is wrong
"""

from functools import partial
from typing import NoReturn

import numpy as np

from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.inside.moves import WHAT, Move, parse_move
from relax_core.inside.threads.block import BlockRun, Kept, WarpRun
from relax_core.inside.threads.conditions import Condition, makes_nan, variables_around
from relax_core.inside.threads.looking import Root, glance, roots_of
from relax_core.inside.threads.stepper import ThreadStepper, Wanted
from relax_core.ir.node import preorder
from relax_core.ir.tir import BufferStore, For, LaunchThread, Stmt
from relax_core.ops.kernels.numbers import is_array
from relax_core.simt.frames import Frame
from relax_core.simt.lanes import WARP
from relax_core.simt.memory import View
from relax_core.simt.statements import meets
from relax_core.simt.values import data_of
from relax_core.source import Source, Span


def move_threads(stepper: ThreadStepper, text: str, thread: int) -> bool:
    """Make a move; tell whether there is what it looks for, else the run stays where it is.

    Raises:
        CompileError: TI003 for a move that is none, or names what the kernel has not; VM030, VM031 for a condition.
    """
    return _ThreadMover(stepper, text, thread).make(parse_move(text)) if text.strip() else True


class _ThreadMover:
    def __init__(self, stepper: ThreadStepper, text: str, thread: int) -> None:
        self._stepper = stepper
        self._text = text
        self._thread = thread

    def make(self, move: Move) -> bool:
        stepper, sign = self._stepper, -1 if move.is_back else 1
        match move.kind:
            case "start":
                return self._moved(0)
            case "end":
                while stepper.total is None:
                    stepper.move_to(stepper.clock + (1 << 20))
                return self._moved(stepper.total)
            case "to":
                return self._moved(move.number or 0)
            case "next" if not move.name:
                return self._moved(stepper.clock + sign * (1 if move.number is None else move.number))
            case "next":
                return self._iteration(move)
            case "out":
                return self._out(move.name)
            case "race":
                return stepper.find_report(is_back=move.is_back)
            case "values":
                return stepper.find(self._in_loops(move), after=-1, excludes=partial(_never_there, move))
            case "nan":
                return stepper.find(makes_nan, after=-1)
            case "write":
                root, cell = self._element(move)
                wanted = _writes(root, cell)
                if move.is_back:
                    return stepper.find_back(wanted)
                return stepper.find(wanted, excludes=lambda first, second: not _touches(root, cell, first, second))
            case _:
                wanted = self._wanted(move)
                return stepper.find_back(wanted) if move.is_back else stepper.find(wanted)

    def _moved(self, clock: int) -> bool:
        self._stepper.move_to(clock)
        return self._stepper.clock == clock

    def _wanted(self, move: Move) -> Wanted:
        """Return what tells whether a statement is looked for."""
        match move.kind:
            case "thread":
                return lambda run: runs_thread(run, self._thread)
            case "warp":
                return lambda run: run.running is not None and run.running.number == self._thread // WARP
            case "barrier":
                return is_last_at_barrier
            case "line":
                return self._of_line(move.number or 0)
            case "if":
                return Condition(self._stepper.run, self._stepper.start.body, move.text).holds
            case _:
                self._refuse(f"`{move.kind}` is no move among threads", "")

    def _of_line(self, line: int) -> Wanted:
        return lambda run: (node := next_of(run)) is not None and node.span is not None and node.span.line == line

    def _element(self, move: Move) -> tuple[Root, tuple[int, ...]]:
        cell = tuple(value for _, value in move.values)
        root = next((item for item in roots_of(self._stepper.run) if item.name == move.name), None)
        if root is None:
            names = ", ".join(f"`{item.name}`" for item in roots_of(self._stepper.run))
            self._refuse(f"there is no buffer `{move.name}`", f"there are {names}")
        if len(cell) != len(root.shape) or not all(0 <= at < size for at, size in zip(cell, root.shape, strict=True)):
            self._refuse(f"`{move.name}` of shape {root.shape} has no such element", "")
        return root, cell

    def _in_loops(self, move: Move) -> Wanted:
        body = self._stepper.start.body
        known = {node.var.name for node in preorder(body) if isinstance(node, For | LaunchThread)}
        missing = [name for name, _ in move.values if name not in known]
        if missing:
            names = ", ".join(f"`{name}`" for name in sorted(known))
            self._refuse(f"there is no loop over `{missing[0]}`, nor threads", f"there are {names}")

        def wanted(run: BlockRun) -> bool:
            warp = run.running
            if warp is None or warp.next is None:
                return False
            around = {var.name: warp.state.variables[var] for var in variables_around(warp)}
            if not all(name in around for name, _ in move.values):
                return False
            lanes = warp.state.lanes.full(warp.next[1])
            for name, value in move.values:
                lanes = lanes & (data_of(around[name]) == value)
            return bool(lanes.any())

        return wanted

    def _loop(self, name: str) -> tuple[WarpRun, int]:
        """Return the warp that runs next, and where a loop around it is in its frames."""
        warp = self._stepper.run.running
        loops = [] if warp is None else [(at, loop_name(frame)) for at, frame in enumerate(warp.frames)]
        named = [(at, loop) for at, loop in loops if loop]
        for at, loop in reversed(named):
            if warp is not None and name in (loop, ""):
                return warp, at
        hint = f"it is inside of {', '.join(f'`{loop}`' for _, loop in named)}" if named else "it is in no loop"
        self._refuse(f"the statement that runs is in no loop over `{name}`" if name else "there is no loop", hint)

    def _iteration(self, move: Move) -> bool:
        warp, depth = self._loop(move.name)
        frame = warp.frames[depth]
        number, wanted_at, node = warp.number, frame.at + (-1 if move.is_back else 1), frame.node

        def wanted(run: BlockRun) -> bool:
            own = run.running
            if own is None or own.number != number:
                return False
            inside = len(own.frames) > depth and own.frames[depth].node is node
            return not inside or own.frames[depth].at == wanted_at

        if not move.is_back:
            return self._stepper.find(wanted)
        if wanted_at < 1 or not self._stepper.find_back(wanted):
            return False
        # That is the last statement of the iteration before; its first one is where the one before it was left.
        inside = wanted
        while self._stepper.find_back(lambda run: run.running is not None and run.running.number == number):
            if not inside(self._stepper.run):
                self._stepper.find(inside)
                break
        return True

    def _out(self, name: str) -> bool:
        warp, depth = self._loop(name)
        number, node = warp.number, warp.frames[depth].node

        def wanted(run: BlockRun) -> bool:
            own = run.running
            return (
                own is not None
                and own.number == number
                and not (len(own.frames) > depth and own.frames[depth].node is node)
            )

        return self._stepper.find(wanted)

    def _refuse(self, message: str, hint: str) -> NoReturn:
        span = Span(Source(WHAT, self._text), 0, len(self._text))
        raise CompileError((Diagnostic("TI003", message, span, hint),))


def _writes(root: Root, cell: tuple[int, ...]) -> Wanted:
    def wanted(run: BlockRun) -> bool:
        warp = run.running
        if warp is None or warp.next is None:
            return False
        if isinstance(node := warp.next[0], BufferStore):
            place = warp.state.places.get(node.buffer)
            if root.memory is not (place.memory if isinstance(place, View) else None):
                return False
        return any(item.is_write and item.name == root.name and item.indices == cell for item in glance(run, warp).seen)

    return wanted


def _touches(root: Root, cell: tuple[int, ...], first: Kept, second: Kept) -> bool:
    """Tell whether an element may have been touched between two places."""
    if root.memory is None:
        return True
    at = int(np.ravel_multi_index(cell, root.shape)) if cell else 0
    cells = slice(at * root.cell_count, (at + 1) * root.cell_count)
    counts = [
        next((counts[cells].sum() for memory, (counts, _) in kept.touches if memory is root.memory), 0)
        for kept in (first, second)
    ]
    return counts[0] != counts[1]


def _never_there(move: Move, first: Kept, second: Kept) -> bool:
    """Tell whether a loop that all warps are in at both places has a value neither there nor on the way."""
    if first.whole is None or second.whole is None:
        return False
    wanted = dict(move.values)
    for one, other in zip(first.whole.frames, second.whole.frames, strict=False):
        if one.node is not other.node:
            return False
        name = loop_name(one)
        if one.span is not None and name in wanted and not any(map(is_array, (*one.span, *(other.span or ())))):
            start, _, step = one.span
            if not start + (one.at - 1) * step <= wanted[name] <= start + (other.at - 1) * step:
                return True
        if one.at != other.at:
            return False
    return False


def loop_name(frame: Frame) -> str:
    """Return the variable of a loop that a warp is in, empty if the statement is none."""
    return frame.node.var.name if isinstance(frame.node, For) else ""


def next_of(run: BlockRun) -> Stmt | None:
    """Return the statement that runs next."""
    warp = run.running
    return None if warp is None or warp.next is None else warp.next[0]


def runs_thread(run: BlockRun, thread: int) -> bool:
    """Tell whether a thread takes part in the statement that runs next."""
    warp = run.running
    if warp is None or warp.next is None or warp.number != thread // WARP:
        return False
    return bool(warp.state.lanes.full(warp.next[1])[thread % WARP])


def is_last_at_barrier(run: BlockRun) -> bool:
    """Tell whether the warp that runs next is the last one to arrive at a barrier: behind it all go on."""
    node = next_of(run)
    return node is not None and meets(node) and sum(warp.is_ready for warp in run.warps) == 1
