"""The Source page: the text with its problems, a graph per function, and the selected node."""

import streamlit as st

from relax_core.engine.protocol import Ast, Failure, GraphOf, Inspect, Open, RestoreLayout, Script, SourceView
from relax_core.present.models import Code, Graph, Inspector
from views import PASSES, RUN
from views.connection import ask, program_of, show_failure
from views.frame import bar, chip, page, status_line, upload
from views.state import open_text, select, selection
from views.widgets.editor import EditorAction, editor
from views.widgets.graph import GraphAction, graph
from views.widgets.inspector import InspectorAction, inspector

_LINE = "source.line"


def _on_edit(action: EditorAction) -> None:
    match action.kind:
        case "select":
            select(node=action.node)
        case "tab":
            select(view=action.command)
        case "command":
            st.session_state["source.command"] = action.command
        case "text" | "submit":
            if action.text != program_of(selection()).text:
                open_text(action.text)


def _on_graph(action: GraphAction) -> None:
    match action.kind:
        case "select":
            select(node=action.node)
        case "tab":
            select(function=action.command, node="")
        case "open":
            opened: tuple[str, ...] = st.session_state.get("source.opened", ())
            st.session_state["source.opened"] = (*opened, action.command)
        case _:
            pass


def _on_inspector(action: InspectorAction) -> None:
    match action.kind:
        case "select":
            select(node=action.node)
        case "line":
            go_to(action.line)
        case _:
            pass


def go_to(line: int) -> None:
    """Bring a line of the text into sight."""
    _, number = st.session_state.get(_LINE, (0, 0))
    st.session_state[_LINE] = (line, number + 1)


@st.dialog("Restore layout", width="large")
def _offer_layout(text: str) -> None:
    reply = ask(RestoreLayout(text))
    if isinstance(reply, Failure):
        show_failure(reply)
        return
    if reply.text == text:
        st.write("The layout is whole: nothing to restore.")
        return
    st.markdown("\n".join(f"- {change}" for change in reply.changes))
    st.code(reply.text, language="python", height=360)
    if st.button("Use this text", type="primary", key="source.use"):
        open_text(reply.text)
        st.rerun()


def _run_command(text: str) -> None:
    match st.session_state.pop("source.command", ""):
        case "restore":
            _offer_layout(text)
        case "format":
            reply = ask(Script(program_of(selection())))
            if isinstance(reply, Failure):
                st.toast(f"{reply.title}. {reply.message}")
            else:
                open_text(reply.text)
                st.rerun()
        case _:
            pass


def _show_editor(view: SourceView) -> None:
    current = selection()
    code: Code = view.code
    is_tree = current.view == "tree"
    if is_tree:
        tree = ask(Ast(program_of(current)))
        code = tree if isinstance(tree, Code) else Code(text="")
    editor(
        code,
        key="source.tree" if is_tree else "source.editor",
        selected=current.node,
        go_line=st.session_state.get(_LINE, (0, 0)),
        tabs=(("text", view.code.name or "module.py"), ("tree", "Tree")),
        tab="tree" if is_tree else "text",
        actions=() if is_tree else (("format", "Format"), ("restore", "Restore layout")),
        is_readonly=is_tree,
        on_action=_on_edit,
    )


def _show_graph(view: SourceView) -> None:
    current = selection()
    function = current.function if current.function in view.functions else next(iter(view.entries + view.functions), "")
    opened: tuple[str, ...] = st.session_state.get("source.opened", ())
    reply = ask(GraphOf(program_of(current), function=function, opened=opened))
    if isinstance(reply, Failure) and reply.kind != "diagnosed":
        show_failure(reply)
        return
    if isinstance(reply, Failure):
        reply = Graph(svg="", empty_title="No graph yet", empty_text="The problems below the text come first.")
    graph(
        reply,
        key="source.graph",
        selected=current.node,
        tabs=tuple((name, f"@{name}") for name in view.functions),
        tab=function,
        on_action=_on_graph,
    )


def _show_inspector() -> None:
    current = selection()
    reply = ask(Inspect(program_of(current), current.node)) if current.node else Inspector(title="")
    inspector(
        Inspector(title="") if isinstance(reply, Failure) else reply, key="source.inspector", on_action=_on_inspector
    )


with page():
    with bar():
        upload()
        chips = st.container(horizontal=True, vertical_alignment="center", gap="xsmall", width="content")
        if st.button("Run passes", type="primary", key="source.passes"):
            st.switch_page(PASSES)
        if st.button("Step through", key="source.run"):
            st.switch_page(RUN)
    source = ask(Open(program_of(selection())))
    if isinstance(source, Failure):
        show_failure(source)
        status_line(None)
    else:
        with chips:
            chip(source.dialect)
            chip(source.summary)
            if source.offers_layout:
                chip("layout lost: Restore layout", "orange")
        left, middle, right = st.columns([648, 506, 286], gap=None)
        with left:
            _show_editor(source)
        with middle:
            _show_graph(source)
        with right:
            _show_inspector()
        status_line(source.status)
        _run_command(source.code.text)
