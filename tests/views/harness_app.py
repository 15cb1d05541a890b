"""A page with every component and handmade models, for the browser tests: `?show=source`, `passes`, `run`, ..."""

from pathlib import Path

import streamlit as st

from relax_core.engine.components.diff import DiffAction
from relax_core.engine.components.graph import GraphAction, Head, Marks
from relax_core.engine.components.stepper import StepperAction
from relax_core.present.editing.vocabulary import vocabulary
from tests.views import harness_run, harness_source
from views.pages.run.stepper.component import stepper
from views.widgets.diff.component import diff
from views.widgets.editor.component import EditorAction, editor
from views.widgets.graph.component import graph
from views.widgets.inspector.component import InspectorAction, inspector
from views.widgets.pipeline.component import PipelineAction, pipeline

PANES = (648, 506, 286)


def on_editor(action: EditorAction) -> None:
    st.session_state["text"] = action.text
    st.session_state["said"] = f"editor {action.kind} {action.command}"
    if action.kind == "select":
        st.session_state["node"] = action.node


def on_node(action: GraphAction | InspectorAction | DiffAction) -> None:
    st.session_state["said"] = f"{type(action).__name__} {action.kind} {action.command}"
    if action.kind == "select":
        st.session_state["node"] = action.node
    if isinstance(action, DiffAction) and action.kind == "tab":
        st.session_state["view"] = action.command
    if isinstance(action, DiffAction) and action.kind == "stage":
        st.session_state["stage"] = action.stage


def on_pipeline(action: PipelineAction) -> None:
    st.session_state["stage"] = action.stage


def on_stepper(action: StepperAction) -> None:
    points = ",".join(str(point.line or f"pc{point.pc}") for point in action.breakpoints)
    st.session_state["said"] = f"stepper {action.kind} at {action.at} breakpoints {points}"
    if action.kind == "need":
        st.session_state["window"] = min(action.to, 4999) // 1000 * 1000
        st.session_state["at"] = action.to


def show_source() -> None:
    left, middle, right = st.columns(PANES, gap=None)
    node = str(st.session_state.get("node", ""))
    code = harness_source.source_code(str(st.session_state.get("text", harness_source.PROGRAM)))
    with left:
        editor(
            code,
            vocabulary=vocabulary("tvmscript"),
            key="editor",
            selected=node,
            tabs=(("text", "my_ir_module.py"), ("tree", "Tree")),
            tab="text",
            actions=(("format", "Format"), ("restore", "Restore layout")),
            on_action=on_editor,
        )
    with middle:
        views = (("relax_func", "@relax_func"), ("tir_matmul", "@tir_matmul"))
        graph(harness_source.graph(), key="graph", head=Head(tabs=views), marks=Marks(node), on_action=on_node)
    with right:
        inspector(harness_source.node_inspector(node), key="inspector", actions=(("pin", "Pin"),), on_action=on_node)


def show_passes() -> None:
    left, middle, right = st.columns((280, 874, 286), gap=None)
    node = str(st.session_state.get("node", ""))
    stage = int(st.session_state.get("stage", 2))
    with left:
        pipeline(
            harness_source.PIPELINE, key="pipeline", stage=stage, actions=(("edit", "Edit"),), on_action=on_pipeline
        )
    with middle, st.container(gap=None):
        diff(
            harness_source.pass_diff(),
            key="diff",
            detail=harness_source.DETAIL,
            pipeline=harness_source.PIPELINE,
            stage=stage,
            tab=st.session_state.get("view", "both"),
            selected=node,
            height="350px",
            on_action=on_node,
        )
        graph(
            harness_source.graph(is_compare=True),
            key="compare",
            head=Head("Compare", "one layout for both sides: what is unchanged stays put"),
            marks=Marks(node),
            height="calc(100vh - 489px)",
            on_action=on_node,
        )
    with right:
        inspector(harness_source.node_inspector(node), key="inspector", on_action=on_node)


def show_run() -> None:
    stepper(harness_run.closure_run(is_broken=st.query_params.get("broken") == "1"), key="run", on_action=on_stepper)


def show_deep() -> None:
    run = harness_run.deep_run(int(st.session_state.get("window", 0)))
    stepper(run, key="deep", at=st.session_state.get("at"), on_action=on_stepper)


def show_empty() -> None:
    empty = harness_source.Graph("", empty_title="No graph", empty_text="`main` has no bindings.")
    graph(empty, key="empty", height="300px")


SHOWS = {"source": show_source, "passes": show_passes, "run": show_run, "deep": show_deep, "empty": show_empty}

st.set_page_config(page_title="Components", layout="wide")
st.html(Path(__file__).resolve().parents[2] / "views" / "shell" / "shell.css")
with st.container(gap=None):
    with st.container(horizontal=True, key="ctx"):
        st.text(st.session_state.get("said", "nothing yet"))
    SHOWS[st.query_params.get("show", "source")]()
