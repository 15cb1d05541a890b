"""Two stages of a recording beside each other: as texts, as a graph, by functions, and ours beside the recorded one."""

from functools import partial
from typing import Final

import streamlit as st

from relax_core.engine.components.diff import DiffAction
from relax_core.engine.components.graph import GraphAction, Head, Marks
from relax_core.engine.components.recorded import drawable
from relax_core.engine.debug.requests import (
    OwnPassOf,
    Parcel,
    RecordedFunctionsOf,
    RecordedGraphOf,
    RecordedStructureOf,
)
from relax_core.engine.protocol import (
    Failure,
    Program,
)
from relax_core.engine.replies import FunctionRow, OwnPass
from relax_core.present.escape import badge, literal, prose
from relax_core.present.models import Diff, Graph
from views.pages.pipeline.failures import say
from views.pages.pipeline.state import PipelineState
from views.shell.controls.sheet import filled, sheet
from views.shell.selecting import on_graph, shown_side
from views.state.session import opened_groups, reach, select, state
from views.widgets.diff.component import diff
from views.widgets.graph.component import graph
from views.worker.connection import ask

_LOOK_OF_VERDICT: Final = {
    "equal": ("✓", "green"),
    "same": ("✓", "green"),
    "different": ("✕", "red"),
    "stops alike": ("!", "orange"),
    "not comparable": ("?", "gray"),
    "no such pass": ("?", "gray"),
}
_SIGN: Final = {"added": "+", "removed": "−", "changed": "~", "moved": "→", "unchanged": "="}


def show_graph(parcel: Parcel, left: int, right: int, height: str) -> None:
    """Show what changed as one graph: of the Relax functions, or of one prim func."""
    listed = ask(RecordedFunctionsOf(parcel, left, right))
    if isinstance(listed, Failure):
        say(listed, "functions")
        return
    names = drawable(listed)
    own = state(PipelineState).drawn_function
    function = own if own in names else next(iter(names), "")
    drawn = ask(RecordedGraphOf(parcel, left, right, function, opened_groups("pipeline")))
    if isinstance(drawn, Failure):
        drawn = Graph("", empty_title=drawn.title, empty_text=drawn.message)
    selected = next((item.node for item in drawn.nodes if item.node and f"b/{item.line}" == _line()), "")
    graph(
        drawn,
        key="pipeline.graph",
        head=Head(
            "" if len(names) > 1 else "Compare",
            "" if len(names) > 1 else "one layout for both stages",
            tabs=tuple((name, name or "Relax functions") for name in names) if len(names) > 1 else (),
            tab=function,
            side=shown_side("pipeline"),
        ),
        marks=Marks(selected),
        height=height,
        on_action=partial(_on_graph, drawn),
    )


def _line() -> str:
    return state(PipelineState).recorded_line


def _on_graph(drawn: Graph, action: GraphAction) -> None:
    match action.kind:
        case "reach":
            reach("pipeline", action.node, action.groups)
        case "open" | "close":
            on_graph("pipeline", action)
        case "select":
            found = next(
                (item for item in drawn.nodes if action.node and action.node in (item.node, item.before_node)), None
            )
            side = "a" if found is not None and found.side == "before" else "b"
            select(recorded_line=f"{side}/{found.line}" if found is not None and found.line else "")
        case "tab":
            select(drawn_function=action.command, recorded_line="")
        case "side":
            st.session_state["pipeline.side"] = action.side
        case _:
            pass


def show_structure(parcel: Parcel, left: int, right: int, height: str) -> None:
    """List what became of the parts of the module; a row leads to its line in the texts."""
    found = ask(RecordedStructureOf(parcel, left, right))
    if isinstance(found, Failure):
        say(found, "structure")
        return
    diff(
        Diff("", "", ()),
        key="pipeline.structure",
        tab="structure",
        structure=found,
        height=height,
        on_action=_on_structure,
    )


def _on_structure(action: DiffAction) -> None:
    if action.kind == "line":
        select(recorded_line=action.node, compared_as="")


def show_functions(parcel: Parcel, left: int, right: int) -> None:
    """List the functions of both stages with what became of them, their regions and their targets."""
    listed = ask(RecordedFunctionsOf(parcel, left, right))
    if isinstance(listed, Failure):
        say(listed, "functions")
        return
    changed = sum(row.mark != "unchanged" for row in listed.rows)
    cut = f"; the first {len(listed.rows):,} are listed" if len(listed.rows) < listed.count else ""
    with st.container(key="pipeline.functions", gap="xsmall"):
        st.caption(literal(f"{changed:,} of {listed.count:,} functions changed from A to B{cut}."))
        sheet(filled([_row(row) for row in listed.rows]), key="pipeline.table", name="functions")


def _row(row: FunctionRow) -> dict[str, object]:
    return {
        "Function": row.name,
        "Kind": row.kind,
        "Change": f"{_SIGN[row.mark]} {row.mark}",
        "Line in A": row.before or None,
        "Line in B": row.after or None,
        "Region": row.region,
        "Target, device": row.placed,
    }


def show_own_pass(parcel: Parcel, right: int, options: Program, height: str) -> None:
    """Show what our pass of the stage's name makes of the same module, beside what the recorded one made."""
    found = ask(OwnPassOf(parcel, right, options))
    if isinstance(found, Failure):
        say(found, "own")
        return
    _say_verdict(found)
    if found.diff is not None and found.verdict != "equal":
        diff(found.diff, key="pipeline.own", height=height)


def _say_verdict(found: OwnPass) -> None:
    sign, colour = _LOOK_OF_VERDICT[found.verdict]
    words = {"same": "equal in value", "equal": "equal"}.get(found.verdict, found.verdict)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="pipeline.own_verdict"):
        st.markdown(badge(f"{sign} {words}", colour), width="content")
        st.markdown(prose(f"{found.words}."))
