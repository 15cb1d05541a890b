"""Selection by clicks in a graph or in the inspector, alike on every page."""

from typing import Final, Literal, TypeAlias

import streamlit as st
from msgspec.structs import replace

from relax_core.engine.components.graph import GraphAction
from relax_core.engine.protocol import Failure, GraphOf, Inspect, Program, StopOf
from relax_core.present.models import Graph, Inspector, Side, SourceView
from relax_core.present.running.run_models import Breakpoint
from views import PAGES
from views.shell.explaining import explain_node
from views.shell.headers import FRAMED
from views.shell.navigation import open_page
from views.state.session import close_group, find_part, go_to_line, open_group, reach, select, state
from views.state.shared import FocusState
from views.widgets.inspector.component import InspectorAction, inspector
from views.worker.connection import ask, known_reply

# A number for the program whose nodes were last followed through all passes: for another node of it that is quick.
_FOLLOWED: Final = "inspector.followed"
Told: TypeAlias = Literal["all", "this stage", "declared"]
"""What the inspector tells of a node: all, up to its instructions; only what holds at its stage; of that no type that
the checker infers."""


def shown_function(source: SourceView, *chosen: str) -> str:
    """Return the function whose graph is shown: the first of `chosen` that is there, else the source's first."""
    return next((name for name in chosen if name in source.functions), source.first_function)


def on_graph(page: str, action: GraphAction) -> None:
    """Handle an action of the graph of `page`, except its steps and buttons, which are the page's own."""
    match action.kind:
        case "select":
            select(node=action.node)
        case "tab":
            select(function=action.command, node="")
        case "reach":
            reach(page, action.node, action.groups)
            select(node=action.node)
        case "open":
            open_group(page, action.command)
        case "close":
            close_group(page, action.command)
        case "side":
            st.session_state[f"{page}.side"] = action.side
        case "command" if action.command == "weights":
            select(bare=",".join(sorted(_bare_pages() ^ {page})))
        case _:
            pass


def graph_of(request: GraphOf) -> Graph:
    """Ask for a graph; what keeps it from being drawn is said in its place."""
    reply = ask(request)
    return Graph("", empty_title=reply.title, empty_text=reply.message) if isinstance(reply, Failure) else reply


def shown_side(page: str) -> Side:
    """Return which side of the compare graph of `page` the user looks at."""
    return st.session_state.get(f"{page}.side", "both")


def is_bare(page: str) -> bool:
    """Tell whether the graph of `page` counts weights, constants and shape arithmetic in place of showing them."""
    return page in _bare_pages()


def _bare_pages() -> frozenset[str]:
    return frozenset((*PAGES, FRAMED)).intersection(state(FocusState).bare.split(","))


def show_inspector(
    page: str,
    program: Program,
    *,
    height: str,
    is_drawer: bool = True,
    told: Told = "all",
) -> None:
    """Show what is known of the selected node of `program`; a line that is clicked opens on the Source page.

    Of a program whose passes have not run yet, what holds at the stage of the node is shown before they do.
    """
    node = state(FocusState).node
    question = Inspect(program, node, is_followed=told == "all", has_types=told != "declared")
    is_new = st.session_state.get(_FOLLOWED) != hash(program) and known_reply(question) is None
    is_first = bool(node) and told == "all" and is_new
    found = ask(replace(question, is_followed=False) if is_first else question) if node else Inspector(title="")
    model = Inspector(title="") if isinstance(found, Failure) else found
    action = inspector(
        model,
        key=f"{page}.inspector",
        actions=(("explain", "Explain"),),
        is_drawer=is_drawer,
        height=height,
        on_action=_on_inspector,
    )
    if action is not None and action.kind == "command":
        explain_node(model)
    elif action is not None:
        _leave(page, action, program)
    elif is_first and not isinstance(found, Failure) and not isinstance(ask(question), Failure):
        st.session_state[_FOLLOWED] = hash(program)
        st.rerun()


def _on_inspector(action: InspectorAction) -> None:
    match action.kind:
        case "select":
            select(node=action.node)
        case "line":
            go_to_line(action.line)
        case _:
            pass


def _leave(page: str, action: InspectorAction, program: Program) -> None:
    """Follow a link to another page: a line to its text, a node to its pass, an instruction to its run."""
    stage = int(action.node.partition("/")[0] or 0)
    kind, _, rest = action.command.partition("/")
    match action.kind, kind:
        case "line", _ if page != "source":
            open_page("source")
        case "select", _ if page == "source" and stage > 0:
            select(stage=stage)
            open_page("passes")
        case "select", _ if page == "passes" and stage > 0 and state(FocusState).stage not in (stage, stage + 1):
            select(stage=stage)
            st.rerun()
        case "go", "run":
            stop = ask(StopOf(program, 0, (Breakpoint(pc=int(rest)),)))
            select(time=-1 if isinstance(stop, Failure) else stop.time, view="instruction")
            open_page("run")
        case "go", "kernel":
            line, _, name = rest.partition("/")
            select(kernel=name, part=0, sizes="")
            find_part(int(line))
            open_page("kernels")
        case _:
            pass
