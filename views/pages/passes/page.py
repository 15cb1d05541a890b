"""The Passes page: the pipeline, what each pass changed as text and graph, and why."""

import re
from functools import partial
from typing import get_args

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from relax_core.diagnostics import plural
from relax_core.engine.components.diff import DiffAction, DiffTab, SingleRewrite
from relax_core.engine.components.graph import Head, Marks
from relax_core.engine.debug.replies import Bisection, ValueRow
from relax_core.engine.debug.requests import BisectOf, CompareValuesOf
from relax_core.engine.protocol import (
    CompareGraph,
    Failure,
    FilmOf,
    Open,
    PipelineFormOf,
    PipelineOf,
    RewriteOf,
    SourceView,
    StageOf,
    StageStructureOf,
)
from relax_core.engine.replies import RewriteView, StageView
from relax_core.present.drawings.still import diff_svg
from relax_core.present.escape import file_name, literal
from relax_core.present.models import Pipeline, Structure
from views.lessons.steps import held_back, waiting
from views.pages.passes.costing import show_costs
from views.pages.passes.exports import stages_csv
from views.pages.passes.film.component import FilmAction, show_film
from views.pages.passes.finding import FIND_PIXELS, find_in_stages
from views.pages.passes.rewriting import show_problem, show_rules
from views.pages.passes.stages import go_to_stage, shown_stage
from views.pages.passes.state import PassesState
from views.pages.passes.steps.component import StepsAction, steps
from views.pages.passes.trying import show_effects
from views.pages.passes.verifying import choose_verification, passed_program, verification
from views.pages.passes.what_if import change_pipeline, show_what_if
from views.shell.controls.choose import choose
from views.shell.controls.undo import offer_undo
from views.shell.failures import show_failure
from views.shell.frame import bar, chip, group, note, page, status_line
from views.shell.guide import offer_paragraph
from views.shell.heights import CHROME, pane_height, stacked_height
from views.shell.reports import offer_report
from views.shell.selecting import is_bare, on_graph, show_inspector, shown_side
from views.state.session import opened_groups, reached_nodes, select, state
from views.state.shared import FocusState, ProgramState
from views.widgets.diff.component import diff
from views.widgets.graph.component import graph
from views.widgets.pipeline.component import PipelineAction, results_of
from views.widgets.pipeline.component import pipeline as pipeline_list
from views.worker.connection import ask, run_again
from views.worker.program import drop_unknown_sizes

_VIEWS: tuple[DiffTab, ...] = get_args(DiffTab)
_CYCLE: tuple[DiffTab, ...] = ("text", "graph", "both")
_HEIGHTS = {"both": pane_height(50, CHROME // 2), "graph": "auto", "film": "auto"}
_LOWER_HALF = f"calc(50vh - {CHROME - CHROME // 2}px)"
_HEAD_PIXELS = 35
_VALUE_ROWS = 500
_ROW_ORDER = ("different", "not comparable", "stops alike", "same")
_COMPARED = "one layout for both sides: what is unchanged stays put"
_DRAWN = "The two texts side by side as SVG"
_PATCH = "What the pass changed, for `patch -p1` and `git apply`"
_PASSES_HELP = (
    "Names of passes, with options as in `FuseOps(max_depth=4)`. `zero`, `default_build`, `default` and `cpu_generic` "
    "stand for the passes of TVM's pipelines."
)
_NAMES = re.compile(r"LambdaLift\s*(\([^)]*\))?")


def _on_pipeline(action: PipelineAction) -> None:
    match action.kind:
        case "stage":
            go_to_stage(action.stage, node="")
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
            go_to_stage(action.stage, node="")
        case "line":
            select(node=action.node, view="text")
        case "rewrite":
            select(rewrite=action.rewrite, skip=int(action.is_left_out))


def _on_film(action: FilmAction) -> None:
    match action.kind:
        case "select":
            select(node=action.node)
        case "stage":
            go_to_stage(action.stage, node=action.node)
        case "graph":
            select(view="graph")


def _view() -> DiffTab:
    """Return how the stage is shown; of the source, which no pass has changed, there is no graph to compare."""
    focus = state(FocusState)
    default = "text" if focus.stage == 0 else "both"
    return _VIEWS[_VIEWS.index(focus.view)] if focus.view in _VIEWS else default


def _on_steps(ran: str, action: StepsAction) -> None:
    change_pipeline(action.text, ran)


def _pipeline_form(pipeline: Pipeline | None) -> None:
    """Edit the pipeline, of which `pipeline` is what ran, if anything did."""
    current = state(ProgramState)
    default = pipeline.text if pipeline else ""
    with st.popover("Pipeline: default" if not current.pipeline else "Pipeline: own", key="passes.pipeline"):
        form = ask(PipelineFormOf(passed_program()))
        if not isinstance(form, Failure):
            default = default or form.text
            steps(
                form, key="passes.steps", max_height="50vh", on_action=partial(_on_steps, current.pipeline or default)
            )
        choose_verification()
        text = st.text_area("Passes, in order", value=current.pipeline or default, height=110, help=_PASSES_HELP)
        with st.container(horizontal=True, gap="xsmall"):
            if st.button("Run passes", type="primary", key="passes.apply"):
                is_default = text.strip() == default and not current.pipeline
                change_pipeline("" if is_default else text, current.pipeline or default)
                run_again()
                st.rerun()
            if st.button("Default pipeline", key="passes.default"):
                change_pipeline("", current.pipeline)
                st.rerun()
            offer_undo("passes.pipeline", "Bring back the pipeline before the latest change")
        if pipeline:
            _names_choice(pipeline)
            if held_back("passes") is None:
                show_effects(shown_stage(pipeline))


def _names_choice(pipeline: Pipeline) -> None:
    """Choose how LambdaLift names what it lifts, if it is in the pipeline."""
    text = state(ProgramState).pipeline or pipeline.text
    found = _NAMES.search(text)
    if found is None:
        return
    choose(
        "Names of lifted functions",
        ("tvm", "2022"),
        "2022" if "2022" in found.group(0) else "tvm",
        lambda names: change_pipeline(_NAMES.sub(f"LambdaLift(names='{names}')", text), text),
        key="passes.names",
        format_func={"tvm": "as TVM names them", "2022": "as in 2022, lifted_func_0"}.__getitem__,
        label_visibility="visible",
    )


def _results() -> Bisection | Failure | None:
    """Run the module after every stage on the same inputs, if the user asked for it and no question is open."""
    is_asked = state(PassesState).results and held_back("passes") is None
    return ask(BisectOf(passed_program())) if is_asked else None


def _show_results(found: Bisection | Failure | None) -> None:
    """Say in the bar whether a pass changes what the program computes, and lead to the first one."""
    is_on = bool(state(PassesState).results)
    words = "Run the module after every pass on the same inputs, and compare"
    if st.button("Hide results" if is_on else "Check results", key="passes.results", help=words):
        select(results=int(not is_on))
        run_again()
        st.rerun()
    match found:
        case None:
            pass
        case Failure(problems=(first, *_)):
            offer_paragraph(first.code, "passes.results.code", f"no results: {first.code}", color="orange")
        case Failure():
            chip(f"no results: {found.title}", "orange")
        case Bisection(verdict="different", stages=stages, suspects=(*others, at)):
            culprit = f"one of {len(others) + 1} passes" if others else stages[at].name
            label = f":red[{literal(f'✕ {culprit} changes the result')}]"
            st.button(label, key="passes.culprit", type="tertiary", on_click=_show_culprit, args=(at,))
        case Bisection(verdict=verdict, stages=stages):
            compared = sum(stage.verdict == "same" for stage in stages)
            counts = f": {plural(stages[-1].compared, 'result')} in {len(stages)} stages" if verdict == "same" else ""
            not_all = f", {compared} of {len(stages) - 1} stages compared" if verdict == "not comparable" else ""
            sign = "✓ " if verdict == "same" else ""
            chip(f"{sign}{verdict}{counts}{not_all}", "green" if verdict == "same" else "orange")


def _show_culprit(stage: int) -> None:
    go_to_stage(stage, view="values", node="")


def _export(pipeline: Pipeline, view: StageView) -> None:
    """Offer the text after the pass that is shown, and the list of passes."""
    stem = file_name(state(ProgramState).sample.rsplit("/", 1)[-1].partition(".")[0])
    name = view.detail.name.partition("(")[0]
    with st.container(horizontal=True, gap="xsmall"):
        text, stages = view.after.text, stages_csv(pipeline)
        ending = "relay" if view.after.language == "relay" else "py"
        label, file = literal(f"Text after {name}"), f"{stem}.{file_name(name)}.{ending}"
        st.download_button(label, text, file, key="passes.text", on_click="ignore")
        if view.patch:
            file = f"{stem}.{file_name(name)}.patch"
            st.download_button("Patch", view.patch, file, key="passes.patch", on_click="ignore", help=_PATCH)
            drawn = f"{stem}.{file_name(name)}.svg"
            st.download_button(
                "Picture", partial(diff_svg, view.diff), drawn, key="passes.picture", on_click="ignore", help=_DRAWN
            )
        st.download_button("Passes as CSV", stages, f"{stem}.passes.csv", key="passes.csv", on_click="ignore")


def _values(stage: int) -> tuple[tuple[ValueRow, ...], str]:
    """Compare the values of bindings before and after a stage."""
    program = passed_program()
    if stage == 0:
        return (), "The stages are compared with the source: choose one that changed it."
    reply = ask(CompareValuesOf(program, stage - 1, program, stage))
    if isinstance(reply, Failure):
        return (), f"not comparable, because {reply.problem.message}"
    rows = sorted(reply.rows, key=lambda row: _ROW_ORDER.index(row.verdict))
    return tuple(rows[:_VALUE_ROWS]), reply.conclusion


def _single_rewrite(stage: int) -> RewriteView | None:
    """Return the rewrite that is shown on its own, if one is; say why if that cannot be."""
    current = state(PassesState)
    if not current.rewrite:
        return None
    reply = ask(RewriteOf(passed_program(), stage, current.rewrite, bool(current.skip)))
    if isinstance(reply, Failure):
        for number, problem in enumerate(reply.problems):
            show_problem(problem, f"passes.rewrite.code.{number}")
        if not reply.problems:
            show_failure(reply)
        st.button("All rewrites", key="passes.rewrites", on_click=_list_rewrites)
        return None
    return reply


def _list_rewrites() -> None:
    select(rewrite=0)


def _structure(stage: int) -> Structure | None:
    reply = ask(StageStructureOf(passed_program(), stage))
    if isinstance(reply, Failure):
        show_failure(reply)
        return None
    return reply


def _head_of(view: RewriteView) -> SingleRewrite:
    return SingleRewrite(view.number, view.rule, view.numbers, view.problems, view.is_left_out)


def _show_stage(pipeline: Pipeline, view: StageView, stage: int) -> None:
    focus = state(FocusState)
    shown = _view()
    single = _single_rewrite(stage) if shown == "rewrites" else None
    diff(
        view.diff if single is None else single.diff,
        key="passes.diff",
        detail=view.detail,
        pipeline=pipeline,
        stage=stage,
        tab=shown,
        selected=focus.node,
        values=_values(stage) if shown == "values" else ((), ""),
        single=None if single is None else _head_of(single),
        structure=_structure(stage) if shown == "structure" else None,
        height=_HEIGHTS.get(shown, pane_height()),
        on_action=_on_diff,
    )
    if shown == "film":
        _show_film(stage)
    if shown in ("both", "graph"):
        opened, reached = opened_groups("passes"), reached_nodes("passes")
        bare = is_bare("passes")
        reply = ask(CompareGraph(passed_program(), stage, opened=opened, shown=reached, is_bare=bare))
        if isinstance(reply, Failure):
            show_failure(reply)
            return
        graph(
            reply,
            key="passes.graph",
            head=Head("Compare", _COMPARED, side=shown_side("passes"), can_be_bare=True),
            marks=Marks(focus.node),
            height=_LOWER_HALF if shown == "both" else pane_height(less=CHROME + 71),
            on_action=partial(on_graph, "passes"),
        )


def _show_film(stage: int) -> None:
    reply = ask(FilmOf(passed_program()))
    if isinstance(reply, Failure):
        show_failure(reply)
        return
    show_film(
        reply,
        key="passes.film",
        stage=stage,
        selected=state(FocusState).node,
        height=pane_height(less=CHROME + _HEAD_PIXELS),
        on_action=_on_film,
    )


def _show(pipeline: Pipeline, found: Bisection | Failure | None, files: DeltaGenerator) -> None:
    stage = shown_stage(pipeline)
    left, middle, right = st.columns([280, 874, 286], gap=None)
    with left, st.container(gap=None):
        find_in_stages()
        height = stacked_height(CHROME + FIND_PIXELS)
        pipeline_list(
            pipeline,
            key="passes.list",
            stage=stage,
            results=results_of(found) if isinstance(found, Bisection) else None,
            height=height,
            has_views=True,
            on_action=_on_pipeline,
        )
    with middle:
        view = ask(StageOf(passed_program(), stage))
        if isinstance(view, Failure):
            show_failure(view)
        else:
            with files:
                _export(pipeline, view)
                offer_report("passes", passed_program())
            with st.container(gap=None):
                _show_stage(pipeline, view, stage)
    with right, st.container(key="drawer"):
        show_inspector("passes", passed_program(), height=pane_height())


with page():
    with bar("passes") as files:
        form = group()
        if st.button("Run again", type="primary", key="passes.again"):
            run_again()
        results = group()
    source = ask(Open(passed_program()))
    if state(PassesState).results and isinstance(source, SourceView):
        drop_unknown_sizes(source)
    stages = ask(PipelineOf(passed_program()))
    with form:
        _pipeline_form(None if isinstance(stages, Failure) else stages)
        show_rules(None if isinstance(stages, Failure) else stages)
        if not isinstance(stages, Failure) and held_back("passes") is None:
            show_costs()
            show_what_if(stages.text)
    if isinstance(stages, Failure):
        show_failure(stages)
    else:
        with form:
            if held_back("passes") is not None:
                chip(waiting("passes"), "blue")
            elif not state(PassesState).results:
                changed = sum(stage.is_changed for stage in stages.stages)
                failed = stages.stages[-1]
                if failed.is_failed:
                    chip(f"✕ {failed.name.partition('(')[0]} failed", "red")
                verified = "" if failed.is_failed else verification()
                note(f"{changed} of {len(stages.stages) - 1} passes changed it{verified}")
        found = _results()
        if held_back("passes") is None:
            with results:
                _show_results(found)
        _show(stages, found, files)
    status_line(source, subject="Source")
