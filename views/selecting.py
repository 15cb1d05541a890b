"""What a click in a graph or in the inspector does on every page, and the inspector of the selected node."""

import streamlit as st

from relax_core.engine.protocol import Failure, Inspect, Program
from relax_core.present.models import Inspector, Side
from views import SOURCE
from views.connection import ask
from views.state import go_to_line, open_group, select, selection
from views.widgets.graph import GraphAction
from views.widgets.inspector import InspectorAction, inspector


def on_graph(page: str, action: GraphAction) -> None:
    """Follow an action of the graph of `page`; what its steps and buttons mean is the page's own."""
    match action.kind:
        case "select":
            select(node=action.node)
        case "tab":
            select(function=action.command, node="")
        case "open":
            open_group(page, action.command)
        case "side":
            st.session_state[f"{page}.side"] = action.side
        case _:
            pass


def shown_side(page: str) -> Side:
    """Return which side of the compare graph of `page` the user looks at."""
    return st.session_state.get(f"{page}.side", "both")


def show_inspector(
    page: str, program: Program, *, height: str, is_drawer: bool = True, is_followed: bool = True
) -> None:
    """Show what is known of the selected node of `program`; a line that is clicked opens on the Source page."""
    node = selection().node
    found = ask(Inspect(program, node, is_followed=is_followed)) if node else Inspector(title="")
    action = inspector(
        Inspector(title="") if isinstance(found, Failure) else found,
        key=f"{page}.inspector",
        is_drawer=is_drawer,
        height=height,
        on_action=_on_inspector,
    )
    if action is not None and action.kind == "line" and page != "source":
        st.switch_page(SOURCE)


def _on_inspector(action: InspectorAction) -> None:
    match action.kind:
        case "select":
            select(node=action.node)
        case "line":
            go_to_line(action.line)
        case _:
            pass
