"""The Partition page: compiler regions as four passes draw, grow and cut them, and why two did not merge."""

from functools import partial
from types import MappingProxyType

import msgspec
import streamlit as st

from relax_core.engine.components.graph import GraphAction, Head, Marks
from relax_core.engine.protocol import Failure, GraphOf, Open, PartitionOf, Program, SourceView
from relax_core.present.escape import file_name
from relax_core.present.models import Problem
from relax_core.present.regions.partition_models import LETS, Lets, PartitionView
from views.lessons.steps import held_back, waiting
from views.pages.partition.regions.component import RegionsAction, regions
from views.pages.partition.running import show_run
from views.pages.partition.state import PartitionState
from views.shell.controls.choose import choose
from views.shell.controls.undo import offer_undo, remember
from views.shell.failures import show_failure
from views.shell.frame import bar, chip, group, page, status_line
from views.shell.heights import CHROME, pane_height, stacked_height
from views.shell.navigation import open_line
from views.shell.selecting import graph_of, is_bare, on_graph, show_inspector
from views.state.session import opened_groups, reached_nodes, select, state
from views.state.shared import FocusState, ProgramState
from views.widgets.graph.component import graph
from views.worker.connection import ask
from views.worker.program import given_program
from views.worker.tables import (
    patterns_of,
    sample_table,
    supported_of,
    table_name,
    table_names,
    table_text,
    targets_of,
    with_new_pattern,
    with_operators,
    with_pattern,
    without_operator,
    without_pattern,
)

# Is it Relay? The steps that the report and its ids are of, and those from which on regions are functions.
_MERGED = MappingProxyType({True: 3, False: 2})
_CUT = MappingProxyType({True: 4, False: 2})
_SOURCE_STEP = "Source"


def _on_graph(action: GraphAction) -> None:
    if action.kind == "step":
        select(step=int(action.command), node="", pair=-1)
    else:
        on_graph("partition", action)


def _is_relay(source: SourceView) -> bool:
    return source.code.language == "relay"


def _shows_relay(view: PartitionView) -> bool:
    return any(stage.name == "MergeComposite" for stage in view.stages)


def _merged(view: PartitionView) -> int:
    """Return the step that the report is of."""
    return _MERGED[_shows_relay(view)]


def _on_regions(merged: int, action: RegionsAction) -> None:
    chosen, focus = state(ProgramState), state(FocusState)
    match action.kind:
        case "show":
            select(pair=action.index, step=merged, node="", function=action.function or focus.function)
        case "lets":
            select(lets=action.command, pair=-1, node="")
        case "through":
            select(through_lets=1, pair=-1, node="")
        case "select":
            select(node=action.node, step=merged, pair=-1, function=action.function or focus.function)
        case "match":
            select(node=action.node, step=0, pair=-1, function=action.node.split("/")[1] if action.node else "")
        case "line":
            pass
        case _:
            _change_table(table_text=_edited(table_text(chosen, given_program().text), action))


def _change_table(**changes: str) -> None:
    """Take another table; if one of the two is an edit, the one before can be brought back."""
    if state(ProgramState).table_text or changes["table_text"]:
        remember("partition.table", "table", "table_text", "targets")
    select(**changes, pair=-1, node="")


def _edited(table: str, action: RegionsAction) -> str:
    """Return the table as an action leaves it, empty for the sample's."""
    match action.kind:
        case "pattern":
            return with_pattern(table, action.index, action.command, action.text)
        case "add":
            return with_new_pattern(table, action.text)
        case "remove":
            return without_pattern(table, action.index)
        case "support":
            return with_operators(table, action.command, tuple(filter(None, action.text.split(","))))
        case "unsupport":
            return without_operator(table, action.command, action.text)
        case _:
            return ""


def _lets(own: PartitionState) -> Lets:
    return LETS[LETS.index(own.lets)] if own.lets in LETS else "values"


def _choose_table(program: str) -> None:
    chosen = state(ProgramState)
    choose(
        "Table",
        table_names(),
        table_name(chosen, program),
        lambda name: _change_table(table=name, table_text="", targets=""),
        key="partition.table",
        format_func=lambda name: f"Table: {name}{', edited' if chosen.table_text else ''}",
        width=150,
    )


def _choose_lets() -> None:
    choose(
        "Lets",
        LETS,
        _lets(state(PartitionState)),
        lambda name: select(lets=name, pair=-1, node=""),
        key="partition.lets",
        format_func=lambda name: f"Lets: {name}",
        width=150,
    )


def _choose_options(program: str, *, has_lets: bool) -> None:
    """Choose targets and whether regions grow through lets, and edit the table as a whole."""
    chosen, own = state(ProgramState), state(PartitionState)
    text = table_text(chosen, program)
    known = targets_of(text)
    st.session_state["partition.targets"] = [name for name in own.targets.split(",") if name in known] or list(known)
    st.session_state["partition.through"] = bool(own.through_lets)

    def changed() -> None:
        names: list[str] = st.session_state["partition.targets"]
        through = int(st.session_state["partition.through"])
        select(targets="" if names == list(known) else ",".join(names), through_lets=through, pair=-1, node="")

    with st.popover("Options"):
        st.multiselect("Targets, the first one preferred", known, key="partition.targets", on_change=changed)
        if has_lets:
            st.toggle("Merge through lets that no effect forbids", key="partition.through", on_change=changed)
        edited = st.text_area("Table", value=text, height=240, key=f"partition.text.{hash(text)}")
        with st.container(horizontal=True, gap="xsmall"):
            if st.button("Use this table", type="primary", key="partition.use"):
                _change_table(table_text="" if edited == sample_table(table_name(chosen, program)) else edited)
                st.rerun()
            if chosen.table_text and st.button("Back to the sample's table", key="partition.revert"):
                _change_table(table_text="")
                st.rerun()
            st.download_button("Download", text, "table.json", key="partition.download", on_click="ignore")
        st.file_uploader("A table from a file", type="json", key="partition.upload", on_change=_upload)


def _upload() -> None:
    given = st.session_state["partition.upload"]
    if given is not None:
        text = given.getvalue().decode("utf-8", errors="replace")
        _change_table(table_text=text, targets="")


def _export(view: PartitionView, name: str) -> None:
    stem = file_name(name.rpartition(".")[0])
    st.caption("The report of regions")
    with st.container(height=240, border=False):
        st.code(view.markdown, language="markdown", wrap_lines=True)
    with st.container(horizontal=True, gap="xsmall"):
        markdown, json = f"{stem}.regions.md", f"{stem}.regions.json"
        st.download_button("Markdown", view.markdown, markdown, key="partition.markdown", on_click="ignore")
        st.download_button("JSON", view.json, json, key="partition.json", on_click="ignore")


def _partition(program: Program) -> tuple[PartitionView | Failure, Program, tuple[Problem, ...]]:
    """Partition with the table that is chosen; if the user's edit of it has problems, with the sample's, and say so."""
    chosen, own = state(ProgramState), state(PartitionState)
    text = table_text(chosen, program.text)
    targets = tuple(name for name in own.targets.split(",") if name in targets_of(text))
    with_table = msgspec.structs.replace(program, tables=text)
    reply = ask(PartitionOf(with_table, targets, _lets(own), through_lets=bool(own.through_lets)))
    if not isinstance(reply, Failure) or not chosen.table_text or reply.kind != "diagnosed":
        return reply, with_table, ()
    fallback = msgspec.structs.replace(program, tables=sample_table(table_name(chosen, program.text)))
    other = ask(PartitionOf(fallback, (), _lets(own), through_lets=bool(own.through_lets)))
    return (reply, with_table, ()) if isinstance(other, Failure) else (other, fallback, reply.problems)


def _functions(view: PartitionView, source: SourceView, step: int) -> tuple[str, ...]:
    """Return the functions to choose from: those with regions first; those that partitioning made at the end."""
    marked = [row.function for row in view.report.regions]
    made = [row.external for row in view.report.regions if row.external and step >= _CUT[_shows_relay(view)]]
    first = [*marked, *(name for name in source.functions if name == "main"), *source.functions]
    return tuple(dict.fromkeys((*(name for name in first if name in source.functions), *made)))


def _path(view: PartitionView, step: int) -> tuple[tuple[str, ...], ...]:
    """Return the nodes of the blocking path that is shown: of its first region, on the way, of its last region."""
    place = state(PartitionState).pair
    if step != _merged(view) or not 0 <= place < len(view.report.pairs):
        return ()
    pair = view.report.pairs[place]
    nodes = {row.name: row.nodes for row in view.report.regions if row.function == pair.function}
    return nodes.get(pair.producer, ()), pair.nodes, nodes.get(pair.user, ())


def _show_graph(view: PartitionView, source: SourceView, program: Program, step: int) -> None:
    current = state(FocusState)
    functions = _functions(view, source, step)
    function = current.function if current.function in functions else next(iter(functions), "")
    opened = opened_groups("partition")
    path = _path(view, step)
    shown = (*reached_nodes("partition"), *(node for nodes in path for node in nodes))
    drawn = graph_of(GraphOf(program, step, function, opened, shown, is_bare=is_bare("partition")))
    names = (_SOURCE_STEP, *(stage.name for stage in view.stages))
    graph(
        drawn,
        key="partition.graph",
        head=Head(
            note=view.stages[step - 1].summary if step else "before the passes",
            tabs=tuple((name, f"@{name}") for name in functions),
            tab=function,
            steps=tuple((str(number), name) for number, name in enumerate(names)),
            step=str(step),
            can_be_bare=True,
        ),
        marks=Marks(current.node, path=path),
        height=stacked_height(),
        on_action=_on_graph,
    )


def _show_tables(view: PartitionView, program: Program, problems: tuple[Problem, ...]) -> None:
    chosen, focus, own = state(ProgramState), state(FocusState), state(PartitionState)
    # The tables keep their place, and so what is being written in them, when a node is selected.
    with st.container(gap=None):
        if focus.node:
            height = f"calc(38vh - {CHROME // 2}px)"
            show_inspector("partition", program, height=height, is_drawer=False, told="this stage")
    table = table_text(chosen, program.text)
    action = regions(
        view,
        key="partition.regions",
        shown=own.pair if own.pair < len(view.report.pairs) else -1,
        selected=focus.node,
        patterns=patterns_of(table),
        supported=supported_of(table),
        problems=problems,
        is_edited=bool(chosen.table_text),
        height=pane_height(62, CHROME - CHROME // 2) if focus.node else pane_height(),
        on_action=partial(_on_regions, _merged(view)),
    )
    if action is not None and action.kind == "line":
        open_line(action.index)


def _withheld(view: PartitionView) -> PartitionView:
    """Leave out what becomes of the regions, which a lesson asks to be predicted."""
    rows = tuple(msgspec.structs.replace(row, external="") for row in view.report.regions)
    report = msgspec.structs.replace(view.report, regions=rows)
    return msgspec.structs.replace(view, stages=view.stages[: _merged(view)], report=report)


def _show(view: PartitionView, source: SourceView, program: Program, problems: tuple[Problem, ...]) -> None:
    step = state(PartitionState).step
    step = step if 0 <= step <= len(view.stages) else min(_merged(view), len(view.stages))
    program = msgspec.structs.replace(program, pipeline=view.pipeline, pass_count=len(view.stages))
    left, right = st.columns([866, 574], gap=None)
    with left:
        _show_graph(view, source, program, step)
    with right, st.container(gap=None):
        _show_tables(view, program, problems)


def _balance(view: PartitionView) -> str:
    """Say how many begins have no end."""
    count = sum(way.open_begin_count for way in view.ways if way.is_current)
    return f"▲ {count} open begin{'' if count == 1 else 's'}" if count else ""


with page():
    given = given_program()
    with bar("partition") as files:
        choosing, running = group(), group()
    source = ask(Open(given))
    detail = ""
    if isinstance(source, Failure):
        show_failure(source)
    else:
        with choosing:
            _choose_table(given.text)
            offer_undo("partition.table", "Bring back the table before the latest change")
            if _is_relay(source):
                _choose_lets()
            _choose_options(given.text, has_lets=_is_relay(source))
        view, program, problems = _partition(given)
        if isinstance(view, Failure):
            show_failure(view)
        elif held_back("partition") is not None:
            with running:
                chip(waiting("partition"), "blue")
            _show(_withheld(view), source, program, problems)
        else:
            detail = _balance(view)
            with running:
                show_run(view, program)
            with files:
                _export(view, given.name)
            _show(view, source, program, problems)
    status_line(source, detail)
