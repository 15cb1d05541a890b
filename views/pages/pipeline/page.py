"""The Pipeline page: the passes that TVM ran on a model, recorded, and which of them changed what it computes."""

from functools import partial
from typing import Final

import msgspec
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from relax_core.diagnostics import plural
from relax_core.engine.debug.replies import Bisection
from relax_core.engine.debug.requests import BisectRecordedOf
from relax_core.engine.protocol import (
    AppearancesOf,
    Failure,
    Open,
    Parcel,
    Program,
    RecordedFaultsOf,
    RecordedOf,
    RecordedTextsOf,
)
from relax_core.engine.replies import RecordedFaults, RecordedTexts, RecordedView
from relax_core.present.escape import badge, bullets, file_name, literal, prose, sentence, visible
from relax_core.present.models import Stage, Status
from views.pages.pipeline.opening import choose_inputs, choose_recording, offer_recordings, show_recording
from views.pages.pipeline.results import culprits, marked, results_by_position
from views.pages.pipeline.state import PipelineState
from views.shell.frame import bar, chip, group, note, page, status_line
from views.shell.heights import CHROME, pane_height, stacked_height
from views.state.session import select, state
from views.widgets.diff.component import DiffAction, diff
from views.widgets.pipeline.component import PipelineAction
from views.widgets.pipeline.component import pipeline as pipeline_list
from views.worker.connection import ask, run_again
from views.worker.program import given_program
from views.worker.recordings import inputs_for, opened_path, parcel_for

# A packed recording up to this size is read and checked at once; of a larger one it is asked for.
_CHECKED_BYTES: Final = 400_000
# Pixels of the rows above the two texts: the choice of stages, the results with their buttons, what was found.
_SIDES, _VERDICT, _FOUND = 49, 190, 84
_ROWS_SHOWN: Final = 12
_PROBLEMS_SHOWN: Final = 5
_FACTS_SHOWN: Final = ("tvm", "target")
_WORDS: Final = "Run the program as it was after every pass on the same inputs, and compare"


def _on_list(action: PipelineAction) -> None:
    if action.kind == "stage":
        select(recorded_stage=action.stage, against=-1, recorded_line="")


def _on_diff(action: DiffAction) -> None:
    if action.kind == "select":
        select(recorded_line=action.node)


def _go(position: int, line: str = "") -> None:
    select(recorded_stage=position, against=-1, recorded_line=line)


def _say(failure: Failure) -> None:
    """Say why a recording, or a part of it, is not there."""
    with st.container(key="failure", gap="small"):
        if not failure.problems:
            st.error(sentence(failure.title, failure.message))
        for problem in failure.problems[:_PROBLEMS_SHOWN]:
            st.error(sentence(f"{failure.title}: {problem.code}", problem.message))
            if problem.hint:
                st.markdown(prose(f"Hint: {problem.hint}"))
        if failure.kind != "diagnosed":
            st.button("Run again", key="pipeline.again", on_click=run_again)


def _judged(parcel: Parcel, chosen: str) -> Bisection | Failure | None:
    """Run every form of the program and compare, if the user asked for it."""
    own = state(PipelineState)
    if not own.judged:
        return None
    options = Program("", seed=own.recorded_seed, inputs=inputs_for(chosen))
    return ask(BisectRecordedOf(parcel.content, options, constants=parcel.constants))


def _judge_button() -> None:
    is_on = bool(state(PipelineState).judged)
    label = "Hide results" if is_on else "Check results"
    if st.button(label, key="pipeline.judge", type="secondary" if is_on else "primary", help=_WORDS):
        select(judged=int(not is_on), recorded_stage=-1, against=-1, recorded_line="")
        run_again()
        st.rerun()


def _right(view: RecordedView, found: Bisection | Failure | None) -> tuple[int, str]:
    """Return the stage at the right and its marked line: the chosen one, the culprit, or the first that changed."""
    own = state(PipelineState)
    if 0 <= own.recorded_stage < len(view.pipeline.stages):
        return own.recorded_stage, own.recorded_line
    suspects = culprits(view, found) if isinstance(found, Bisection) else ()
    if suspects:
        return suspects[-1], _line_of(found)
    failed = next((stage.index for stage in view.pipeline.stages if stage.is_failed), -1)
    changed = next((stage.index for stage in view.pipeline.stages if stage.is_changed), 0)
    return (failed if failed >= 0 else changed), ""


def _line_of(found: Bisection | Failure | None) -> str:
    """Return the name of the line at which the first difference shows, "" if it is not known."""
    if not isinstance(found, Bisection) or not found.suspects:
        return ""
    line = found.stages[found.suspects[-1]].line
    return f"b/{line}" if line else ""


def _left(view: RecordedView, right: int) -> int:
    """Return the stage at the left: the chosen one, or the form before."""
    own = state(PipelineState)
    if 0 <= own.against < len(view.pipeline.stages):
        return own.against
    return max((position for position in view.forms if position < right), default=right)


def _show_verdict(view: RecordedView, found: Bisection | Failure) -> None:
    """Say in one paragraph what broke, where, and since when."""
    if isinstance(found, Failure):
        _say(found)
        return
    first, *others = found.conclusion.split("\n")
    words, colour = _summed_up(view, found)
    with st.container(key=f"verdict.{colour}", gap="xsmall"):
        st.markdown(badge(words, colour))
        st.markdown(prose(first))
        if others:
            st.markdown(bullets(others))
        places = culprits(view, found)
        with st.container(horizontal=True, gap="xsmall"):
            if places:
                last = view.forms[found.last_good]
                st.button("Show the culprit", key="pipeline.culprit", on_click=_go, args=(places[-1], _line_of(found)))
                st.button("Show the last good stage", key="pipeline.good", on_click=_go, args=(last,))
            text = found.to_text()
            st.download_button("All results", text, "results.txt", key="pipeline.results", on_click="ignore")


def _summed_up(view: RecordedView, found: Bisection) -> tuple[str, str]:
    """Return the verdict in a few words, and the colour of it."""
    match found.verdict:
        case "different":
            return f"✕ {_blame(view, found)}", "red"
        case "same":
            return "✓ All stages agree", "green"
        case _:
            return "? Not all stages could be compared", "orange"


def _blame(view: RecordedView, found: Bisection) -> str:
    places = culprits(view, found)
    names = [view.pipeline.stages[place].name for place in places]
    verb = (
        "changed the result" if len(names) == 1 else "is the first that is seen to differ, and others may be to blame"
    )
    return f"{names[-1]} {verb}"


def _show_stages(view: RecordedView, right: int, found: Bisection | Failure | None) -> None:
    pipeline_list(
        view.pipeline,
        key="pipeline.list",
        stage=right,
        results=results_by_position(view, found) if isinstance(found, Bisection) else None,
        height=stacked_height(),
        on_action=_on_list,
    )


def _choose_sides(view: RecordedView, left: int, right: int) -> None:
    """Choose any two stages, and look for a name in all of them."""
    stages = view.pipeline.stages
    st.session_state["pipeline.a"] = left
    st.session_state["pipeline.b"] = right
    st.session_state["pipeline.sought"] = state(PipelineState).sought

    def picked() -> None:
        chosen_left, chosen_right = st.session_state["pipeline.a"], st.session_state["pipeline.b"]
        select(against=chosen_left, recorded_stage=chosen_right, recorded_line="")

    def sought() -> None:
        select(sought=st.session_state["pipeline.sought"])

    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="pipeline.sides"):
        for name, key in (("A", "pipeline.a"), ("B", "pipeline.b")):
            st.selectbox(
                literal(f"Stage {name}"),
                tuple(stage.index for stage in stages),
                key=key,
                format_func=partial(_named, name, stages),
                on_change=picked,
                label_visibility="collapsed",
                width=250,
            )
        st.button("⇄", key="pipeline.swap", help="Swap A and B", on_click=_swap, args=(left, right))
        st.text_input(
            "Find in all stages",
            key="pipeline.sought",
            placeholder="Name or operator in any stage",
            max_chars=200,
            on_change=sought,
            label_visibility="collapsed",
            width=230,
        )


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
        _say(found)
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


def _show_texts(view: RecordedView, texts: RecordedTexts, at: tuple[int, str], above: int) -> None:
    """Show two texts at a line of a stage, below rows of `above` pixels."""
    right, line = at
    stage = view.pipeline.stages[right]
    for words in texts.words:
        st.info(prose(words))
    for problem in stage.problems[:_PROBLEMS_SHOWN]:
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            st.markdown(badge(problem.code, "red"), width="content")
            st.markdown(prose(f"line {problem.line}: {problem.message}" if problem.line else problem.message))
    diff(
        texts.diff,
        key="pipeline.diff",
        selected=line,
        height=f"max(45vh, {pane_height(less=CHROME + above)})",
        on_action=_on_diff,
    )


def _export(view: RecordedView, texts: RecordedTexts, right: int) -> None:
    name = view.pipeline.stages[right].name
    label, file = literal(f"Text after {name}"), f"{file_name(name)}.py"
    st.download_button(label, texts.text, file, key="pipeline.text", on_click="ignore")


def _check() -> None:
    select(checked=1)


def _faults(parcel: Parcel) -> RecordedFaults | Failure | None:
    is_small = len(parcel.content) <= _CHECKED_BYTES
    if not is_small and not state(PipelineState).checked:
        st.button("Check the forms", key="pipeline.check", on_click=_check)
        return None
    return ask(RecordedFaultsOf(parcel))


def _show(view: RecordedView, parcel: Parcel, found: Bisection | Failure | None, files: DeltaGenerator) -> None:
    right, line = _right(view, found)
    left = _left(view, right)
    list_column, middle = st.columns([330, 1110], gap=None)
    with list_column:
        _show_stages(view, right, found)
    with middle, st.container(key="recorded", gap="xsmall"):
        _choose_sides(view, left, right)
        if found is not None:
            _show_verdict(view, found)
        _show_appearances(parcel)
        texts = ask(RecordedTextsOf(parcel, left, right))
        if isinstance(texts, Failure):
            _say(texts)
        else:
            with files:
                _export(view, texts, right)
            above = _SIDES + (_VERDICT if found is not None else 0) + (_FOUND if state(PipelineState).sought else 0)
            _show_texts(view, texts, (right, line), above)


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
    with bar() as files:
        choosing = group()
    chosen = state(PipelineState).recording or ("opened" if opened_path() else "")
    with choosing:
        choose_recording(chosen)
    parcel = parcel_for(chosen)
    if not isinstance(parcel, Parcel):
        offer_recordings(chosen)
        if parcel is not None:
            _say(parcel)
        status_line(ask(Open(given_program())))
    else:
        view = ask(RecordedOf(parcel))
        if isinstance(view, Failure):
            _say(view)
            offer_recordings("")
            status_line(ask(Open(given_program())))
        else:
            with choosing:
                show_recording(view)
                choose_inputs(chosen, view)
                _judge_button()
                note(_summary(view))
                faults = _faults(parcel)
                if isinstance(faults, RecordedFaults):
                    if faults.stages:
                        chip(f"✕ {plural(len(faults.stages), 'form')} with errors", "red")
                    view = msgspec.structs.replace(view, pipeline=marked(view.pipeline, faults))
            _show(view, parcel, _judged(parcel, chosen), files)
            _show_status(view, faults)
