"""The Pipeline page: the passes that TVM ran on a model, recorded, and which of them changed what it computes."""

from functools import partial
from operator import attrgetter
from typing import Final

import msgspec
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from relax_core.diagnostics import plural
from relax_core.engine.components.diff import DiffAction
from relax_core.engine.debug.replies import Bisection
from relax_core.engine.debug.requests import (
    AppearancesOf,
    BisectRecordedOf,
    Parcel,
    RecordedFaultsOf,
    RecordedFilesOf,
    RecordedOf,
    RecordedTextsOf,
)
from relax_core.engine.protocol import (
    Failure,
    Open,
    Program,
)
from relax_core.engine.replies import RecordedFaults, RecordedView
from relax_core.lessons.explaining import names_in
from relax_core.present.escape import file_name, literal, prose, visible
from relax_core.present.models import Stage, Status
from views.lessons.steps import held_back, waiting
from views.pages.pipeline.calls import show_calls
from views.pages.pipeline.compared import show_functions, show_graph, show_own_pass, show_structure
from views.pages.pipeline.costs import show_recorded_costs
from views.pages.pipeline.crash import show_crash
from views.pages.pipeline.failures import say
from views.pages.pipeline.inputs import choose_inputs, known_inputs, options_for
from views.pages.pipeline.life import show_life
from views.pages.pipeline.opening import choose_recording, offer_recordings, show_recording
from views.pages.pipeline.results import culprits, marked, results_by_position
from views.pages.pipeline.state import VIEWS, PipelineState
from views.pages.pipeline.verdict import line_of, offer_links, offer_reproducer, show_verdict
from views.shell.controls.choose import choose
from views.shell.frame import bar, chip, group, note, page, status_line
from views.shell.guide import offer_paragraph
from views.shell.heights import stacked_height
from views.state.dialogs import ask_for_meaning
from views.state.session import select, state
from views.widgets.diff.component import diff
from views.widgets.pipeline.component import PipelineAction
from views.widgets.pipeline.component import pipeline as pipeline_list
from views.worker.connection import ask, later, run_again
from views.worker.program import given_program
from views.worker.recordings import opened_path, parcel_for

# A packed recording up to this size is read and checked at once; of a larger one it is asked for.
_CHECKED_BYTES: Final = 400_000
# Of the pane that the two stages have: what the rows above it leave.
_HEIGHT: Final = "100cqh"
_VIEW_NAMES: Final = {
    "text": "Text",
    "graph": "Graph",
    "structure": "Structure",
    "functions": "Functions",
    "ours": "Our pass",
    "costs": "Costs",
    "calls": "Calls",
}
_ROWS_SHOWN: Final = 12
_PROBLEMS_SHOWN: Final = 5
_FACTS_SHOWN: Final = ("tvm", "target")
_WORDS: Final = "Run the program as it was after every pass on the same inputs, and compare"


def _on_list(action: PipelineAction) -> None:
    match action.kind, action.command:
        case "stage", _:
            own = state(PipelineState)
            select(recorded_stage=action.stage, against=own.against if own.pinned else -1, recorded_line="")
        case "command", "a":
            own = state(PipelineState)
            is_pinned = bool(own.pinned) and own.against == action.stage
            select(against=-1 if is_pinned else action.stage, pinned=int(not is_pinned), recorded_line="")
        case "command", "culprit":
            select(recorded_stage=-1, against=-1, pinned=0, recorded_line="")
        case _:
            pass


def _on_diff(action: DiffAction) -> None:
    if action.kind == "select":
        select(recorded_line=action.node)


def _go(position: int, line: str = "") -> None:
    select(recorded_stage=position, against=-1, recorded_line=line)


def _judge_button() -> None:
    is_on = bool(state(PipelineState).judged)

    def toggle() -> None:
        # Before the script runs: another message of the browser may end the run before it comes to the button.
        select(judged=int(not is_on), recorded_stage=-1, against=-1, recorded_line="")
        run_again()

    label = "Hide results" if is_on else "Check results"
    kind = "secondary" if is_on else "primary"
    st.button(label, key="pipeline.judge", type=kind, help=_WORDS, on_click=toggle)


def _right(view: RecordedView, found: Bisection | Failure | None) -> tuple[int, str]:
    """Return the stage at the right and its marked line: the chosen one, the culprit, or the first that changed."""
    own = state(PipelineState)
    if 0 <= own.recorded_stage < len(view.pipeline.stages):
        return own.recorded_stage, own.recorded_line
    suspects = culprits(view, found) if isinstance(found, Bisection) else ()
    if suspects:
        return suspects[-1], line_of(found)
    failed = next((stage.index for stage in view.pipeline.stages if stage.is_failed), -1)
    changed = next((stage.index for stage in view.pipeline.stages if stage.is_changed), 0)
    return (failed if failed >= 0 else changed), ""


def _left(view: RecordedView, right: int) -> int:
    """Return the stage at the left: the chosen one, or the form before."""
    own = state(PipelineState)
    if 0 <= own.against < len(view.pipeline.stages):
        return own.against
    return max((position for position in view.forms if position < right), default=right)


def _show_stages(view: RecordedView, right: int, found: Bisection | Failure | None) -> None:
    pipeline_list(
        view.pipeline,
        key="pipeline.list",
        stage=right,
        results=results_by_position(view, found) if isinstance(found, Bisection) else None,
        height=stacked_height(),
        has_sides=True,
        on_action=_on_list,
    )


def _show_side(name: str, left: int, right: int, chosen: int) -> None:
    """Show another stage on one side."""
    against, stage = (chosen, right) if name == "A" else (left, chosen)
    select(against=against, recorded_stage=stage, recorded_line="")


def _choose_sides(view: RecordedView, left: int, right: int) -> None:
    """Choose any two stages, and look for a name in all of them."""
    stages = view.pipeline.stages
    st.session_state["pipeline.sought"] = state(PipelineState).sought

    def sought() -> None:
        select(sought=st.session_state["pipeline.sought"])

    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="pipeline.sides"):
        for name, shown in (("A", left), ("B", right)):
            choose(
                f"Stage {name}",
                tuple(stage.index for stage in stages),
                shown,
                partial(_show_side, name, left, right),
                key=f"pipeline.{name.lower()}",
                format_func=partial(_named, name, stages),
                width=165,
            )
        st.button("⇄", key="pipeline.swap", help="Swap A and B", on_click=_swap, args=(left, right))
        st.text_input(
            "Find in all stages",
            key="pipeline.sought",
            placeholder="Name in a stage",
            max_chars=200,
            on_change=sought,
            label_visibility="collapsed",
            width=130,
        )
        _choose_view(view, stages[right])


def _offer_meaning(stage: Stage) -> None:
    """Offer what the pass of a stage does; of a pass that is known to TVM alone nothing is told."""
    name = stage.name.partition("(")[0].rpartition(".")[2]
    if names_in(f"`{name}`"):
        st.button(
            "Explain",
            key="pipeline.explain",
            type="tertiary",
            help=prose(f"What `{name}` does, and which lessons tell more"),
            on_click=ask_for_meaning,
            args=(name,),
        )


def _view_count(view: RecordedView) -> int:
    """Return in how many of the ways the stages can be shown: calls, the last one, only where a run was recorded.

    While a lesson's prediction waits, in those that speak of the two stages alone.
    """
    if held_back("pipeline") is not None:
        return VIEWS.index("ours")
    return len(VIEWS) - (not view.runs)


def _view_of(view: RecordedView) -> str:
    """Return how the stages are shown."""
    chosen = state(PipelineState).compared_as
    return chosen if chosen in VIEWS[: _view_count(view)] else VIEWS[0]


def _choose_view(view: RecordedView, shown_stage: Stage) -> None:
    shown = _view_of(view)
    st.session_state["pipeline.view"] = shown

    def picked() -> None:
        select(compared_as=(st.session_state["pipeline.view"] or shown).removeprefix("text"))

    words = "What the marked line became and what it stems from, matched through all forms of the program"
    st.session_state["pipeline.follow"] = bool(state(PipelineState).followed)
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", width="content"):
        st.segmented_control(
            "View",
            VIEWS[: _view_count(view)],
            key="pipeline.view",
            format_func=_VIEW_NAMES.__getitem__,
            on_change=picked,
            label_visibility="collapsed",
            width="content",
        )
        st.toggle("Life", key="pipeline.follow", help=words, on_change=_follow)
        _offer_meaning(shown_stage)


def _follow() -> None:
    select(followed=int(st.session_state["pipeline.follow"]))


def _named(side: str, stages: tuple[Stage, ...], index: int) -> str:
    """Name a stage of a side: no two alike, for the browser answers with the label."""
    return f"{side}: {stages[index].label} {visible(stages[index].name)}"


def _swap(left: int, right: int) -> None:
    select(against=right, recorded_stage=left, recorded_line="")


def _show_appearances(parcel: Parcel) -> None:
    text = state(PipelineState).sought
    if not text:
        return
    found = ask(AppearancesOf(parcel, text))
    if isinstance(found, Failure):
        say(found, "found")
        return
    with st.container(key="pipeline.found", gap="xsmall"):
        st.markdown(prose(found.conclusion))
        with st.container(horizontal=True, gap="xsmall"):
            for row in found.rows[:_ROWS_SHOWN]:
                label = literal(f"{row.name}: {row.change}, {row.count:,}")
                side = "a" if row.change == "goes" else "b"
                place = f"{side}/{row.line}"
                st.button(label, key=f"pipeline.at.{row.position}", on_click=_go, args=(row.position, place))
        if len(found.rows) > _ROWS_SHOWN:
            st.caption(literal(f"{len(found.rows) - _ROWS_SHOWN} further stages change how often it is there."))


def _show_problems(stage: Stage) -> None:
    for number, problem in enumerate(stage.problems[:_PROBLEMS_SHOWN]):
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            offer_paragraph(problem.code, f"pipeline.code.{number}")
            st.markdown(prose(f"line {problem.line}: {problem.message}" if problem.line else problem.message))


def _show_texts(parcel: Parcel, sides: tuple[int, int], line: str, files: DeltaGenerator) -> None:
    texts = ask(RecordedTextsOf(parcel, *sides))
    if isinstance(texts, Failure):
        say(texts, "texts")
        return
    for words in texts.words:
        st.info(prose(words))
    name = texts.diff.after_title.partition(" · ")[2]
    with files, st.container(horizontal=True, gap="xsmall"):
        label, stem = literal(f"Text of {name}"), file_name(name)
        files_of = RecordedFilesOf(parcel, *sides)
        text = later(files_of, attrgetter("text"))
        st.download_button(label, text, f"{stem}.py", key="pipeline.text", on_click="ignore")
        if not texts.diff.is_unchanged:
            patch = later(files_of, attrgetter("patch"))
            st.download_button("Patch A to B", patch, f"{stem}.patch", key="pipeline.patch", on_click="ignore")
    diff(texts.diff, key="pipeline.diff", selected=line, height=_HEIGHT, on_action=_on_diff)


def _show_sides(
    chosen: str, parcel: Parcel, sides: tuple[int, int], line: str, options: Program, files: DeltaGenerator
) -> None:
    """Show two stages in the way that is chosen."""
    match chosen:
        case "graph":
            show_graph(parcel, *sides, _HEIGHT)
        case "structure":
            show_structure(parcel, *sides, _HEIGHT)
        case "functions":
            show_functions(parcel, *sides)
        case "ours":
            show_own_pass(parcel, sides[1], options, _HEIGHT)
        case "costs":
            show_recorded_costs(parcel, options)
        case _:
            _show_texts(parcel, sides, line, files)


def _up_to(view: RecordedView, stage: int) -> RecordedView:
    """Leave out what comes behind a stage, which a lesson asks to be predicted."""
    shown = msgspec.structs.replace(view.pipeline, stages=view.pipeline.stages[: stage + 1])
    return msgspec.structs.replace(view, pipeline=shown, forms=tuple(form for form in view.forms if form <= stage))


def _show(view: RecordedView, parcel: Parcel, options: Program, files: DeltaGenerator) -> None:
    asked = BisectRecordedOf(parcel.content, options, constants=parcel.constants)
    is_held = held_back("pipeline") is not None
    found = ask(asked) if state(PipelineState).judged and not is_held else None
    right, line = _right(view, found)
    left = _left(view, right)
    is_followed = bool(state(PipelineState).followed) and not is_held
    list_column, middle, *rest = st.columns([330, 824, 286] if is_followed else [330, 1110], gap=None)
    with list_column:
        _show_stages(view, right, found)
    with middle, st.container(key="recorded", gap="xsmall"):
        links = None
        stopped = show_crash(view, parcel)
        match found:
            case Bisection():
                found = msgspec.structs.replace(found, stopped=stopped)
                links = show_verdict(view, found)
            case Failure():
                say(found, "verdict")
            case None:
                pass
        _choose_sides(view, left, right)
        if not is_held:
            _show_appearances(parcel)
        if view.pipeline.stages[right].problems:
            with st.container(key="pipeline.problems", gap="xsmall"):
                _show_problems(view.pipeline.stages[right])
        with st.container(key="pipeline.shown", gap=None):
            if (chosen := _view_of(view)) == "calls":
                show_calls(view, parcel)
            else:
                _show_sides(chosen, parcel, (left, right), line, options, files)
        if isinstance(found, Bisection) and links is not None:
            with links:
                offer_links(view, found, parcel)
                offer_reproducer(asked, found)
    for right_column in rest:
        with right_column, st.container(key="drawer"):
            show_life(parcel, (left, right), line)


def _check() -> None:
    select(checked=1)


def _faults(parcel: Parcel) -> RecordedFaults | Failure | None:
    is_small = len(parcel.content) <= _CHECKED_BYTES
    if not is_small and not state(PipelineState).checked:
        st.button("Check the forms", key="pipeline.check", on_click=_check)
        return None
    return ask(RecordedFaultsOf(parcel))


def _summary(view: RecordedView) -> str:
    facts = dict(view.facts)
    named = (facts.get(key, "") for key in _FACTS_SHOWN)
    words = [f"{key} {value}" for key, value in zip(_FACTS_SHOWN, named, strict=True) if value and key == "tvm"]
    return ", ".join((plural(len(view.pipeline.stages), "stage"), plural(len(view.forms), "form"), *words))


def _show_status(view: RecordedView, faults: RecordedFaults | Failure | None) -> None:
    detail = f"{_summary(view)}, read from {view.source}"
    match faults:
        case RecordedFaults(stages=stages):
            count = sum(item.count for item in stages)
            status_line(Status(is_well_formed=not count, error_count=count, detail=detail))
        case _:
            status_line(None, f"not checked: {detail}")


with page():
    with bar("pipeline") as files:
        choosing = group()
    chosen = state(PipelineState).recording or ("opened" if opened_path() else "")
    with choosing:
        choose_recording(chosen)
    parcel = parcel_for(chosen)
    if not isinstance(parcel, Parcel):
        offer_recordings(chosen)
        if parcel is not None:
            say(parcel, "recording")
        status_line(ask(Open(given_program())))
    else:
        view = ask(RecordedOf(parcel))
        if isinstance(view, Failure):
            say(view, "recording")
            offer_recordings("")
            status_line(ask(Open(given_program())))
        else:
            with choosing:
                show_recording(view, parcel)
                known = known_inputs(parcel)
                choose_inputs(chosen, parcel, view, known)
                held = held_back("pipeline")
                if held is None:
                    _judge_button()
                    note(_summary(view))
                else:
                    chip(waiting("pipeline"), "blue")
                    view = _up_to(view, held.stage)
                faults = _faults(parcel)
                if isinstance(faults, RecordedFaults):
                    if faults.stages:
                        chip(f"✕ {plural(len(faults.stages), 'form')} with errors", "red")
                    view = msgspec.structs.replace(view, pipeline=marked(view.pipeline, faults))
            _show(view, parcel, options_for(chosen, known), files)
            _show_status(view, faults)
