"""The Source page: the text with its problems, a graph per function, and the selected node."""

from functools import partial
from types import MappingProxyType
from typing import Literal, NamedTuple

import msgspec
import streamlit as st

from relax_core.engine.components.graph import Head, Marks
from relax_core.engine.protocol import Ast, Failure, GraphOf, Open, RestoreLayout, Script, SourceView, VocabularyOf
from relax_core.present.catalog_of.catalog_models import Vocabulary
from relax_core.present.escape import bullets, file_name, sentence
from relax_core.present.models import Code, Graph, LineHeat
from relax_core.present.nodes.node_id import NodeId
from views.lessons.steps import open_lesson_file, waiting_questions
from views.pages.run.last_run import values_of_last_run
from views.shell.failures import show_failure, show_reason
from views.shell.frame import bar, chip, group, note, page, status_line, upload
from views.shell.heat import heat_form
from views.shell.heights import pane_height
from views.shell.navigation import ask_for_page
from views.shell.reports import offer_report
from views.shell.selecting import is_bare, on_graph, show_inspector, shown_function
from views.shell.tour import offer
from views.state.dialogs import PageDialog, ask_for, close_dialog, leave_dialog, page_dialog
from views.state.session import line_to_show, open_text, opened_groups, reached_nodes, select, state
from views.state.shared import FocusState
from views.widgets.editor.component import NO_WORDS, EditorAction, editor
from views.widgets.graph.component import graph
from views.worker.connection import ask, waiting_in
from views.worker.program import given_program

_TARGET = "source.target"
_LAYOUT = "source.layout"
_READ_BACK_CHARACTERS = 64_000


class _Withheld(NamedTuple):
    """What is left out for questions of a lesson that wait for an answer."""

    types: bool
    """Those that are inferred, in the graph, the inspector and the tips of the text."""
    problems: bool
    """What the checker finds, and whether it finds anything."""
    life: bool
    """What passes make of a node."""


class _Target(NamedTuple):
    """A language to print in: what `Script` needs, and the name of the file."""

    dialect: Literal["tvmscript", "relay", "ast"]
    spelling: Literal["2026", "2023", "2022"] = "2026"
    tvm: Literal["", "0.25", "0.27"] = ""
    suffix: str = ".py"


# Line ends and indentation mean nothing in Relay, so there is no layout to restore.
_ACTIONS = MappingProxyType(
    {
        "tvmscript": (("format", "Format"), ("restore", "Restore layout")),
        "relay": (("format", "Format"),),
        "plain": (),
    }
)
_TARGETS = MappingProxyType(
    {
        "tvmscript": {
            "TVMScript for TVM 0.27": _Target("tvmscript", tvm="0.27"),
            "TVMScript for TVM 0.25": _Target("tvmscript", tvm="0.25"),
            "TVMScript of 2023": _Target("tvmscript", "2023"),
            "TVMScript of 2022": _Target("tvmscript", "2022"),
        },
        "relay": {"Relay text 0.0.5": _Target("relay", suffix=".relay")},
    }
)


def _on_edit(action: EditorAction) -> None:
    match action.kind:
        case "select":
            select(node=action.node)
        case "tab":
            select(view=action.command)
        case "command":
            st.session_state["source.command"] = action.command
        case "text" | "submit":
            if action.text != given_program().text:
                open_text(action.text)
        case "open":
            open_text(action.text, sample=action.name)


@st.dialog("Restore layout", width="large", on_dismiss=close_dialog)
def _offer_layout(text: str) -> None:
    with waiting_in(st.container()):
        reply = ask(RestoreLayout(text))
    if isinstance(reply, Failure):
        show_failure(reply)
        return
    if reply.text == text:
        st.markdown("The layout is whole: nothing to restore.")
        return
    st.markdown(bullets(reply.changes))
    st.code(reply.text, language="python", height=360)
    if st.button("Use this text", type="primary", key="source.use"):
        open_text(reply.text)
        leave_dialog()


def _use(text: str) -> None:
    st.session_state[_TARGET] = None
    open_text(text)


def _offer_printing(view: SourceView) -> None:
    """Print the module for a chosen reader."""
    targets = _TARGETS["relay" if view.code.language == "relay" else "tvmscript"]
    if st.session_state.get(_TARGET) not in targets:
        st.session_state[_TARGET] = None
    with st.popover("Print as"):
        chosen = st.selectbox(
            "For", list(targets), index=None, key=_TARGET, placeholder="Choose a language and version"
        )
        if chosen is None:
            return
        target = targets[chosen]
        reply = ask(Script(given_program(), target.dialect, target.spelling, tvm=target.tvm))
        if isinstance(reply, Failure):
            show_reason(reply, "source.print")
            return
        st.code(reply.text, language="python" if target.suffix == ".py" else None, height=360)
        name = f"{file_name(view.module)}{target.suffix}"
        with st.container(horizontal=True, gap="xsmall"):
            st.button("Use this text", type="primary", key="source.print.use", on_click=_use, args=(reply.text,))
            st.download_button("Download", reply.text, file_name=name, key="source.print.save", on_click="ignore")


def _read_back(source: SourceView) -> str:
    """Say whether the module is the same once it was printed and read; "" of a long text, for which that takes long."""
    if not source.status.is_well_formed or len(source.code.text) > _READ_BACK_CHARACTERS:
        return ""
    reply = ask(Script(given_program(), reads_back=True))
    return "" if isinstance(reply, Failure) or reply.read_back is None else reply.read_back.words


def _run_command(text: str) -> None:
    match st.session_state.pop("source.command", ""):
        case "restore":
            ask_for(PageDialog(_LAYOUT, text))
        case "format":
            reply = ask(Script(given_program()))
            if isinstance(reply, Failure):
                st.toast(sentence(reply.title, reply.message))
            else:
                open_text(reply.text)
                st.rerun()
        case _:
            pass
    if dialog := page_dialog(_LAYOUT):
        _offer_layout(dialog.text)


def _vocabulary(code: Code) -> Vocabulary:
    if code.language == "plain":
        return NO_WORDS
    reply = ask(VocabularyOf(code.language))
    return reply if isinstance(reply, Vocabulary) else NO_WORDS


def _show_editor(view: SourceView, height: str, withheld: _Withheld, heat: LineHeat | None) -> None:
    focus = state(FocusState)
    code: Code = view.code
    is_tree = focus.view == "tree"
    if is_tree:
        tree = ask(Ast(given_program()))
        code = tree if isinstance(tree, Code) else Code(text="")
    editor(
        code,
        vocabulary=_vocabulary(code),
        key="source.tree" if is_tree else "source.editor",
        selected=focus.node,
        go_line=line_to_show(),
        tabs=(("text", view.code.name or "module.py"), ("tree", "Tree")),
        tab="tree" if is_tree else "text",
        actions=() if is_tree else _ACTIONS[view.code.language],
        is_readonly=is_tree,
        height=height,
        is_withheld=withheld.problems,
        heat=None if is_tree else heat,
        # What a lesson asks for is not told.
        values=() if is_tree or any(withheld) else values_of_last_run(),
        on_action=_on_edit,
    )


def _show_graph(view: SourceView, height: str, withheld: _Withheld, heat: LineHeat | None) -> None:
    focus = state(FocusState)
    of_node = NodeId.parse(focus.node)
    function = shown_function(view, focus.function, "" if of_node is None else of_node.function)
    opened = opened_groups("source")
    has_types, has_faults = not withheld.types, not withheld.problems
    drawn = GraphOf(
        given_program(),
        function=function,
        opened=opened,
        shown=reached_nodes("source"),
        has_types=has_types,
        has_faults=has_faults,
        is_bare=is_bare("source"),
    )
    reply = ask(drawn)
    if isinstance(reply, Failure) and reply.kind != "diagnosed":
        show_failure(reply)
        return
    if isinstance(reply, Failure):
        reply = Graph(
            svg="",
            empty_title="No graph yet",
            empty_text="The text has no function that can be read. The problems below it say why.",
        )
    graph(
        reply,
        key="source.graph",
        head=Head(tabs=tuple((name, f"@{name}") for name in view.functions), tab=function, can_be_bare=True),
        marks=Marks(focus.node, heat=heat),
        height=height,
        on_action=partial(on_graph, "source"),
    )


def _withheld() -> _Withheld:
    """Return what would tell the answers that a lesson waits for."""
    questions = tuple(question.exercise for question in waiting_questions("source"))
    types = any(exercise.is_of_types for exercise in questions)
    problems = any(exercise.is_of_problems for exercise in questions)
    return _Withheld(types, problems, bool(questions))


def _without(source: SourceView, withheld: _Withheld) -> SourceView:
    """Leave out of a text what it must not tell: problems, and the types of names."""
    code = source.code
    problems = () if withheld.problems else code.problems
    names = () if withheld.types else code.names
    return msgspec.structs.replace(source, code=msgspec.structs.replace(code, problems=problems, names=names))


with page():
    with bar("source") as files:
        upload()
        chips = group()
        printing = st.container(width="content")
        colouring = st.container(width="content")
        st.button("Run passes", type="primary", key="source.passes", on_click=ask_for_page, args=("passes",))
        st.button("Step through", key="source.run", on_click=ask_for_page, args=("run",))
    offer()
    source = ask(Open(given_program()))
    withheld = _withheld()
    if isinstance(source, SourceView):
        source = _without(source, withheld)
    if isinstance(source, Failure):
        show_failure(source)
        status_line(source)
    else:
        with chips:
            note(source.dialect)
            # A lesson asks for such counts.
            if open_lesson_file() is None:
                note(source.summary)
            if source.offers_layout:
                chip("layout lost: Restore layout", "orange")
        with printing:
            _offer_printing(source)
        with colouring:
            heat = None if any(withheld) else heat_form(given_program())
        with files:
            offer_report("source", given_program())
        height = pane_height()
        left, middle, right = st.columns([648, 506, 286], gap=None)
        with left:
            _show_editor(source, height, withheld, heat)
        with middle:
            _show_graph(source, height, withheld, heat)
        with right, st.container(key="drawer"):
            told = "declared" if withheld.types else "this stage" if withheld.life else "all"
            show_inspector("source", given_program(), height=height, told=told)
        status_line(None if withheld.problems else source, "" if withheld.problems else _read_back(source))
        _run_command(source.code.text)
