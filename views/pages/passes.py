"""The Passes page: the pipeline, what each pass changed as text and graph, and why."""

import re
from typing import get_args

import streamlit as st

from relax_core.engine.protocol import CompareGraph, Failure, Inspect, Open, PipelineOf, StageOf, StageView
from relax_core.present.models import Inspector, Pipeline
from views.connection import ask, program_of, run_again
from views.failures import show_failure
from views.frame import bar, chip, page, status_line
from views.heights import pane_height
from views.state import select, selection
from views.widgets.diff import DiffAction, DiffTab, diff
from views.widgets.graph import GraphAction, graph
from views.widgets.inspector import InspectorAction, inspector
from views.widgets.pipeline import PipelineAction
from views.widgets.pipeline import pipeline as pipeline_list

_VIEWS: tuple[DiffTab, ...] = get_args(DiffTab)
_CYCLE: tuple[DiffTab, ...] = ("text", "graph", "both")
# In a narrower window the context bar has two rows.
_BAR_WIDTH = 1010
_NAMES = re.compile(r"LambdaLift\s*(\([^)]*\))?")


def _on_pipeline(action: PipelineAction) -> None:
    match action.kind:
        case "stage":
            select(stage=action.stage, node="")
        case "command" if action.command == "view":
            shown = _view()
            select(view=_CYCLE[(_CYCLE.index(shown) + 1) % len(_CYCLE)] if shown in _CYCLE else "both")
        case _:
            pass


def _on_diff(action: DiffAction) -> None:
    match action.kind:
        case "select":
            select(node=action.node)
        case "tab":
            select(view=action.command)
        case "stage":
            select(stage=action.stage, node="")


def _on_graph(action: GraphAction) -> None:
    match action.kind:
        case "select":
            select(node=action.node)
        case "side":
            st.session_state["passes.side"] = action.side
        case _:
            pass


def _on_inspector(action: InspectorAction) -> None:
    if action.kind == "select":
        select(node=action.node)


def _view() -> DiffTab:
    view = selection().view
    return _VIEWS[_VIEWS.index(view)] if view in _VIEWS else "both"


def _first_changed(pipeline: Pipeline) -> int:
    """The stage that a visitor sees first: LambdaLift if it changed something, else the first that did."""
    changed = [stage for stage in pipeline.stages if stage.is_changed and stage.index > 0]
    preferred = [stage.index for stage in changed if stage.name == "LambdaLift"]
    return next(iter([*preferred, *(stage.index for stage in changed)]), 0)


def _pipeline_form(pipeline: Pipeline) -> None:
    current = selection()
    with st.popover("Pipeline: default" if not current.pipeline else "Pipeline: own"):
        text = st.text_area("Passes, in order", value=current.pipeline or pipeline.text, height=160)
        with st.container(horizontal=True, gap="xsmall"):
            if st.button("Run passes", type="primary", key="passes.apply"):
                select(pipeline="" if text.strip() == pipeline.text and not current.pipeline else text, stage=-1)
                run_again()
                st.rerun()
            if st.button("Default pipeline", key="passes.default"):
                select(pipeline="", stage=-1)
                st.rerun()


def _names_choice(pipeline: Pipeline) -> None:
    """Choose how LambdaLift names what it lifts, if it is in the pipeline."""
    text = selection().pipeline or pipeline.text
    found = _NAMES.search(text)
    if found is None:
        return
    shown = "2022" if "2022" in found.group(0) else "tvm"
    st.session_state["passes.names"] = shown

    def changed() -> None:
        names = st.session_state["passes.names"]
        select(pipeline=_NAMES.sub(f"LambdaLift(names='{names}')", text), stage=-1)

    st.selectbox(
        "Names of lifted functions",
        ("tvm", "2022"),
        key="passes.names",
        format_func=lambda name: f"names: {name}",
        on_change=changed,
        label_visibility="collapsed",
        width=140,
    )


def _show_stage(pipeline: Pipeline, view: StageView, stage: int) -> None:
    current = selection()
    shown = _view()
    diff(
        view.diff,
        key="passes.diff",
        detail=view.detail,
        pipeline=pipeline,
        stage=stage,
        tab=shown,
        selected=current.node,
        height={"both": pane_height(_BAR_WIDTH, 50, 70), "graph": "auto"}.get(shown, pane_height(_BAR_WIDTH)),
        on_action=_on_diff,
    )
    if shown in ("both", "graph"):
        reply = ask(CompareGraph(program_of(current), stage))
        if isinstance(reply, Failure):
            show_failure(reply)
            return
        graph(
            reply,
            key="passes.graph",
            selected=current.node,
            side=st.session_state.get("passes.side", "both"),
            title="Compare",
            note="one layout for both sides: what is unchanged stays put",
            height="calc(50vh - 69px)" if shown == "both" else pane_height(_BAR_WIDTH, less=210),
            on_action=_on_graph,
        )


def _show(pipeline: Pipeline) -> None:
    current = selection()
    stage = current.stage if 0 <= current.stage < len(pipeline.stages) else _first_changed(pipeline)
    left, middle, right = st.columns([280, 874, 286], gap=None)
    with left:
        height = pane_height(_BAR_WIDTH)
        pipeline_list(pipeline, key="passes.list", stage=stage, height=height, on_action=_on_pipeline)
    with middle:
        view = ask(StageOf(program_of(current), stage))
        if isinstance(view, Failure):
            show_failure(view)
        else:
            with st.container(gap=None):
                _show_stage(pipeline, view, stage)
    with right, st.container(key="drawer"):
        node = ask(Inspect(program_of(current), current.node)) if current.node else Inspector(title="")
        found = Inspector(title="") if isinstance(node, Failure) else node
        height = pane_height(_BAR_WIDTH)
        inspector(found, key="passes.inspector", is_drawer=True, height=height, on_action=_on_inspector)


with page():
    with bar():
        form = st.container(horizontal=True, vertical_alignment="center", gap="xsmall", width="content")
        if st.button("Run again", type="primary", key="passes.again"):
            run_again()
    source = ask(Open(program_of(selection())))
    stages = ask(PipelineOf(program_of(selection())))
    if isinstance(stages, Failure):
        show_failure(stages)
    else:
        with form:
            _pipeline_form(stages)
            _names_choice(stages)
            chip(f"{sum(stage.is_changed for stage in stages.stages)} of {len(stages.stages) - 1} passes changed it")
        _show(stages)
    status_line(None if isinstance(source, Failure) else source.status)
