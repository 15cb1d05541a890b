"""The page of a frame: `embed?view=graph`, `diff` or `stepper`, and what else an address of the app says."""

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple, get_args

import streamlit as st

from relax_core.engine.components.stepper import logged
from relax_core.engine.protocol import CompareGraph, Failure, GraphOf, Open, PipelineOf, StageOf
from relax_core.present.drawings.still import diff_svg, run_svg
from relax_core.present.escape import file_name, literal
from relax_core.present.models import Diff, Graph
from views.embed.addresses import EmbeddedView, whole_address
from views.embed.announcer.component import Wanted, announce
from views.pages.passes.stages import go_to_stage, shown_stage
from views.pages.run.points import read
from views.pages.run.program import run_program
from views.pages.run.state import RunState
from views.pages.run.stepper.component import StepperAction, stepper
from views.pages.run.window import continue_as_asked, follow, hits, window
from views.shell.failures import show_failure
from views.shell.frame import page
from views.shell.headers import FRAMED
from views.shell.selecting import graph_of, is_bare, on_graph, shown_function, shown_side
from views.state.session import opened_groups, select, state
from views.state.shared import FocusState, ProgramState
from views.widgets.diff.component import DiffAction, diff
from views.widgets.graph.component import Head, Marks, graph
from views.worker.connection import ask
from views.worker.program import given_program

_STYLE: Final = Path(__file__).parent / "embed.css"
_VIEWS: Final[tuple[EmbeddedView, ...]] = get_args(EmbeddedView)
# Pixels of the line below a view, of what stands above a picture or lines in it, and of a line.
_FOOT, _HEAD, _LINE = 29, 90, 19
# Of a run with its panes beside and below each other.
_STEPPER_HEIGHT, _STACKED_STEPPER = 560, 1000
_LEAST: Final = 240
_POINT: Final = 4 / 3
_BOX: Final = re.compile(r'viewBox="\S+ \S+ (\S+) (\S+)"')
_HEIGHT: Final = f"calc(100vh - {_FOOT}px)"


class _Shown(NamedTuple):
    """What a view is of, and the size that it wants."""

    detail: str
    wanted: Wanted
    draw: Callable[[], str] | None = None
    """Draws the same as SVG; none where the view offers that itself."""


def _view() -> EmbeddedView:
    """Return the view that the address names, the graph if it names none."""
    named = state(FocusState).view
    return _VIEWS[_VIEWS.index(named)] if named in _VIEWS else _VIEWS[0]


def _show_graph() -> _Shown | Failure:
    """Show the graph of the text, or at a stage what its pass changed."""
    opened = opened_groups(FRAMED)
    if state(FocusState).stage > 0:
        pipeline = ask(PipelineOf(given_program()))
        if isinstance(pipeline, Failure):
            return pipeline
        stage = shown_stage(pipeline)
        reply = ask(CompareGraph(given_program(), stage, opened=opened, is_bare=is_bare(FRAMED)))
        if isinstance(reply, Failure):
            return reply
        _draw(reply, Head("Compare", side=shown_side(FRAMED), can_be_bare=True))
        return _Shown(pipeline.stages[stage].name, _wanted_by(reply))
    source = ask(Open(given_program()))
    if isinstance(source, Failure):
        return source
    function = shown_function(source, state(FocusState).function)
    drawn = graph_of(GraphOf(given_program(), function=function, opened=opened, is_bare=is_bare(FRAMED)))
    tabs = tuple((name, f"@{name}") for name in source.functions)
    _draw(drawn, Head(tabs=tabs, tab=function, can_be_bare=True))
    return _Shown(f"@{function}" if function else "", _wanted_by(drawn))


def _draw(model: Graph, head: Head) -> None:
    marks = Marks(state(FocusState).node)
    graph(model, key="embed.graph", head=head, marks=marks, height=_HEIGHT, on_action=partial(on_graph, FRAMED))


def _wanted_by(drawn: Graph) -> Wanted:
    found = _BOX.search(drawn.svg)
    width, height = (round(float(side) * _POINT) for side in found.groups()) if found else (0, _LEAST)
    return Wanted("graph", _FOOT + _HEAD, picture_width=width, picture_height=height)


def _on_diff(action: DiffAction) -> None:
    match action.kind:
        case "select":
            select(node=action.node)
        case "stage":
            go_to_stage(action.stage, node="")
        case _:
            pass


def _show_diff() -> _Shown | Failure:
    """Show what a pass did to the text, with the passes to go through."""
    pipeline = ask(PipelineOf(given_program()))
    if isinstance(pipeline, Failure):
        return pipeline
    stage = shown_stage(pipeline)
    found = ask(StageOf(given_program(), stage))
    if isinstance(found, Failure):
        return found
    diff(
        found.diff,
        key="embed.diff",
        pipeline=pipeline,
        stage=stage,
        selected=state(FocusState).node,
        height=_HEIGHT,
        on_action=_on_diff,
    )
    wanted = Wanted("diff", max(_LEAST, _FOOT + _HEAD + _LINE * _lines(found.diff)))
    return _Shown(pipeline.stages[stage].name, wanted, partial(diff_svg, found.diff))


def _lines(shown: Diff) -> int:
    """Count the lines of a diff while its folds are closed."""
    return len(shown.rows) - sum(fold.count - 1 for fold in shown.folds)


def _on_step(action: StepperAction) -> None:
    if action.kind in ("state", "need"):
        follow(action)
        # The address goes on to name the view of the frame.
        select(view="stepper")


def _show_stepper() -> _Shown | Failure:
    """Show a run step by step."""
    program = run_program()
    continue_as_asked(program)
    run = window(program)
    if isinstance(run, Failure):
        return run
    own = state(RunState)
    stepper(
        run,
        key="embed.stepper",
        at=min(own.time, run.total) if own.time >= 0 else None,
        breakpoints=read(own.breakpoints),
        hits=hits(run, program),
        logs=logged(ask, program, read(own.breakpoints)),
        fixed="A frame of another page changes no values.",
        height=_HEIGHT,
        on_action=_on_step,
    )
    return _Shown("", Wanted("stepper", _STEPPER_HEIGHT, _STACKED_STEPPER), partial(run_svg, run))


def _foot(view: EmbeddedView, detail: str, draw: Callable[[], str] | None) -> None:
    """Say below the view what it is of, offer it as a picture, and lead to the app."""
    name = state(ProgramState).sample.rpartition("/")[2]
    file = f"{file_name(name.partition('.')[0] or view)}.svg"
    with st.container(horizontal=True, vertical_alignment="center", key="embed.foot"):
        st.caption(literal(f"{name} · {detail}" if detail else name))
        if draw is not None:
            st.download_button("Picture", draw, file, key="embed.picture", on_click="ignore", type="tertiary")
        st.link_button("Open in RelaxScope ↗", whole_address(view), type="tertiary", width="content")


# Before anything is asked for, so that the navigation is not seen meanwhile.
st.html(_STYLE)
with page(takes_lesson=False):
    chosen = _view()
    match chosen:
        case "graph":
            shown = _show_graph()
        case "diff":
            shown = _show_diff()
        case "stepper":
            shown = _show_stepper()
    if isinstance(shown, Failure):
        show_failure(shown)
        announce(Wanted(chosen, _LEAST), key="embed.announcer")
    else:
        _foot(chosen, shown.detail, shown.draw)
        announce(shown.wanted, key="embed.announcer")
