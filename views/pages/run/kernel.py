"""The Run page inside a kernel: the call that the run stood at, statement by statement."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import msgspec
import streamlit as st

from relax_core.engine.debug.requests import (
    HeatKind,
    HeatOf,
    HeatSpan,
    InsideOf,
    InsideReportOf,
    KernelCall,
    ThreadsOf,
    WarpOrder,
)
from relax_core.engine.programs.program import Program
from relax_core.engine.protocol import Failure
from relax_core.present.running.inside_models import HeatView, InsideReport, InsideView
from views.lessons.steps import held_back
from views.pages.run.inside.component import InsideAction, inside
from views.pages.run.state import RunState
from views.shell.failures import show_failure
from views.shell.heights import pane_height
from views.state.session import select, state
from views.worker.connection import ask

_STATEMENTS: Final = 64
"""In the window that the browser steps through by itself."""
_MOST: Final = 1 << 62
_BUFFERS: Final = 6
_SIDE: Final = 32
_COUNTED_AT_ONCE: Final = 100_000
"""Statements of warps in all blocks of a launch that are counted without being asked: they take a second."""
_MOVES: Final = "run.inside.moves"
"""The statement from which the run moves, and the moves, until they are made: a run may end before, for another one."""
_KINDS: Final[Mapping[str, HeatKind]] = MappingProxyType({"age": "age", "value": "value", "owner": "owner"})
_FAULT: Final = "run.inside.fault"
_WINDOWS: Final = "run.inside.windows"


def enter(time: int) -> None:
    """Go into the kernel that is called at a time of the run."""
    st.session_state.pop(_MOVES, None)
    select(time=time, inside=time, clock=0, block=0, thread=0, line=0)


def show_kernel(program: Program) -> InsideView | Failure:
    """Show the kernel that the address names, and return what is shown; make the move that was asked for."""
    own = state(RunState)
    order: WarpOrder = "backward" if own.order == "backward" else "turns" if own.order == "turns" else "forward"
    call = KernelCall(program, time=own.inside, threads=ThreadsOf(0, own.block, own.thread, order))
    view = _moved(call)
    if isinstance(view, Failure):
        st.button("Back to the run", key="run.inside.leave", on_click=_leave)
        show_failure(view)
        return view
    inside(
        view,
        key="run.inside",
        way=f"time {own.inside}",
        heats=_heats(call, view),
        what=own.heat or "count",
        spell=_spell(),
        loop=own.loop,
        line=own.line,
        report=_report(call, view) if held_back("run") is None else None,
        machine=own.machine,
        watch=own.watch,
        fault=st.session_state.pop(_FAULT, ""),
        height=pane_height(),
        on_action=on_action,
    )
    return view


def _report(call: KernelCall, view: InsideView) -> InsideReport | None:
    """Count what the kernel does to memory; a large launch only if that was asked for."""
    own, of = state(RunState), view.threads
    if of is not None and not own.counted and not 0 <= view.total * of.block_count <= _COUNTED_AT_ONCE:
        return None
    found = ask(InsideReportOf(call, own.machine))
    if isinstance(found, Failure) and own.machine:
        st.session_state[_FAULT] = found.message
        found = ask(InsideReportOf(call))
    return found if isinstance(found, InsideReport) else None


def _window(call: KernelCall, clock: int) -> InsideView | Failure:
    """Show the statements around one, with what is watched; without that if it cannot be read."""
    watches = tuple(text for part in state(RunState).watch.split(";") if (text := part.strip()))
    found = ask(InsideOf(call, clock, window=_STATEMENTS, watches=watches))
    if not isinstance(found, Failure) or not watches:
        return found
    st.session_state[_FAULT] = found.message
    return ask(InsideOf(call, clock, window=_STATEMENTS))


def _moved(call: KernelCall) -> InsideView | Failure:
    held = held_back("run")
    most = _MOST if held is None else held.clock
    asked: tuple[int, tuple[str, ...]] = st.session_state.get(_MOVES, (state(RunState).clock, ()))
    clock, moves = min(asked[0], most), asked[1]
    if moves:
        found = ask(InsideOf(call, clock, moves))
        if isinstance(found, Failure):
            st.session_state[_FAULT] = found.message
        elif found.clock > most:
            st.session_state[_FAULT] = "The run goes on once the question is answered."
        elif found.is_found:
            clock = found.clock
            select(clock=clock)
        else:
            st.session_state[_FAULT] = "There is no such statement: the run stays here."
        # Made again from the same statement, they would come to the same one: they are dropped when all is kept.
        st.session_state.pop(_MOVES, None)
    view = _window(call, clock)
    if held is None or isinstance(view, Failure):
        return view
    # What is behind is not told: neither the statements nor how many there are.
    stops = tuple(stop for stop in view.stops if stop.clock <= most)
    return msgspec.structs.replace(view, stops=stops, total=-1)


def _spell() -> HeatSpan:
    """Return of which part of the run buffers are shown: not of the whole one while it is asked about."""
    own = state(RunState)
    return "iteration" if own.spell == "iteration" else "whole" if own.spell and held_back("run") is None else "so_far"


def _heats(call: KernelCall, view: InsideView) -> tuple[HeatView, ...]:
    own = state(RunState)
    what = _KINDS.get(own.heat, "count")
    if what == "owner" and view.threads is None:
        what = "count"
    spell = _spell()
    found: list[HeatView] = []
    for buffer in view.buffers[:_BUFFERS]:
        window = _window_of(buffer.name, view)
        request = HeatOf(
            call, view.clock, buffer.name, what, spell, own.loop, own.line, axes=window.axes, fixed=window.fixed,
            top=window.top, left=window.left, rows=window.side, columns=window.side,
        )  # fmt: skip
        heat = ask(request)
        if isinstance(heat, HeatView):
            found.append(heat)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Window:
    """Where the window of a buffer begins, how many rows and columns it has, its axes, and the other indices."""

    top: int = 0
    left: int = 0
    side: int = _SIDE
    axes: tuple[int, ...] = ()
    fixed: tuple[int, ...] = ()


def _window_of(name: str, view: InsideView) -> _Window:
    """Return the window that was chosen; behind a step it follows the element that the statement touches."""
    kept: dict[str, tuple[str, int]] = st.session_state.get(_WINDOWS, {})
    text, clock = kept.get(name, ("", -1))
    parts = [tuple(int(item) for item in part.split(",") if item) for part in text.split(";")]
    place, axes, fixed = (*parts, (), (), ())[:3]
    found = _Window(*place, axes, fixed) if len(place) == 3 else _Window()
    touched = next((item for item in view.accesses if item.buffer == name and item.is_inside), None)
    return found if clock == view.clock or touched is None else _following(found, touched.indices)


def _following(window: _Window, cell: tuple[int, ...]) -> _Window:
    """Return a window that has an element; one that has it stays."""
    if not cell:
        return window
    row, column = window.axes or (len(cell) - 2, len(cell) - 1)
    top, left = (
        begin if axis < 0 or begin <= cell[axis] < begin + window.side else max(cell[axis] - window.side // 2, 0)
        for begin, axis in ((window.top, row), (window.left, column))
    )
    return _Window(top, left, window.side, window.axes, cell)


def on_action(action: InsideAction) -> None:
    match action.kind:
        case "move":
            begin, before = st.session_state.get(_MOVES, (action.clock, ()))
            st.session_state[_MOVES] = begin, (*before, action.text)
            select(clock=action.clock)
        case "look" if action.name in ("loop", "thread", "line", "counted", "block"):
            select(clock=action.clock, **{action.name: _whole(action.text)})
        case "look" if action.name == "order":
            # Another run: the statements have other numbers, and no move that was asked for is one of it.
            st.session_state.pop(_MOVES, None)
            select(clock=0, order="" if action.text == "forward" else action.text)
        case "look":
            plain = {"count": "", "so_far": ""}.get(action.text, action.text)
            select(clock=action.clock, **{action.name: plain})
        case "window":
            select(clock=action.clock)
            kept: dict[str, tuple[str, int]] = st.session_state.get(_WINDOWS, {})
            st.session_state[_WINDOWS] = {**kept, action.name: (action.text, action.clock)}
        case "out":
            _leave()
        case _:
            select(clock=action.clock)


def _whole(text: str) -> int:
    return int(text) if text.lstrip("-").isdecimal() else 0


def _leave() -> None:
    st.session_state.pop(_MOVES, None)
    select(inside=-1, clock=0)
