"""The pipeline before the latest change beside the one that is open: what both make of the module, side by side."""

import dataclasses
from collections import Counter
from typing import Final

import streamlit as st

from relax_core.diagnostics import plural
from relax_core.engine.debug.requests import CompareValuesOf
from relax_core.engine.protocol import CostsOf, Failure, PipelineOf, Program
from relax_core.present.escape import badge, prose
from views.pages.passes.stages import FIRST_SHOWN, go_to_stage
from views.pages.passes.state import PassesState
from views.shell.controls.sheet import filled, numbers, sheet
from views.shell.controls.undo import remember
from views.shell.costs import bounds, known_figures
from views.shell.failures import show_failure
from views.state.session import select, state
from views.state.shared import ProgramState
from views.worker.connection import ask, run_again
from views.worker.program import given_program, program_of

_COLOURS: Final = {"same": "green", "different": "red"}


def change_pipeline(text: str, ran: str) -> None:
    """Open another pipeline, "" for the default one, and keep the one that `ran` to be compared with."""
    if text != state(ProgramState).pipeline:
        remember("passes.pipeline", "pipeline", "earlier", "stage")
    go_to_stage(FIRST_SHOWN, pipeline=text, earlier=state(PassesState).earlier if text == ran else ran)


def show_what_if(ran: str) -> None:
    """Show what the pipeline before the change comes to beside the one that `ran`, if one was changed."""
    earlier = state(PassesState).earlier
    if not earlier or earlier == ran:
        return
    with st.popover("What if", key="passes.what_if"):
        st.caption("Before the latest change the pipeline was:")
        st.code(earlier, language=None, wrap_lines=True)
        is_on = bool(state(PassesState).both)
        with st.container(horizontal=True, gap="xsmall"):
            words = "Run both on the same inputs, and set beside each other what they cost"
            if st.button("Hide the comparison" if is_on else "Compare both", key="passes.what_if.both", help=words):
                select(both=int(not is_on))
                run_again()
                st.rerun()
            st.button("Back to it", key="passes.what_if.back", on_click=change_pipeline, args=(earlier, ran))
        if is_on:
            before = program_of(dataclasses.replace(state(ProgramState), pipeline=earlier))
            _show_values(before, given_program())
            _show_figures(before, given_program())


def _show_values(before: Program, now: Program) -> None:
    found = ask(CompareValuesOf(before, -1, now, -1))
    if isinstance(found, Failure):
        show_failure(found)
        return
    # The verdict is on what both came to: bindings that one pipeline has and the other has not are none of its matter.
    outcome = found.outcome
    verdict, words = (found.verdict, found.conclusion) if outcome is None else (outcome.verdict, outcome.words)
    st.markdown(f"{badge(f'result: {verdict}', _COLOURS.get(verdict, 'orange'))} {prose(words)}")
    counts = Counter(row.verdict for row in found.rows)
    first = "" if found.first_different is None else f", first {found.first_different.name}"
    if counts["different"]:
        st.caption(prose(f"{counts['different']} of the bindings that both have differ{first}."))
    elif counts["same"]:
        st.caption(prose(f"{plural(counts['same'], 'binding')} that both have compared and the same."))


def _show_figures(before: Program, now: Program) -> None:
    rows: dict[str, dict[str, object]] = {name: {} for name in ("Passes that changed it", "Milliseconds")}
    least: dict[str, list[str]] = {}
    for side, program in (("Before", before), ("Now", now)):
        costs = ask(CostsOf(program))
        if isinstance(costs, Failure):
            show_failure(costs)
            return
        ran = ask(PipelineOf(program))
        if isinstance(ran, Failure):
            show_failure(ran)
            return
        rows["Passes that changed it"][side] = sum(stage.is_changed for stage in ran.stages)
        rows["Milliseconds"][side] = round(ran.seconds * 1000, 1)
        for head, figure in known_figures(costs.rows[-1]).items():
            rows.setdefault(head, {})[side] = figure
        for head in bounds(costs.rows[-1]):
            least.setdefault(head, []).append(side)
    shown = [{"": name, **sides, "At least": ", ".join(least.get(name, ()))} for name, sides in rows.items()]
    sheet(filled(shown), key="passes.what_if.table", name="figures", columns=numbers("Before", "Now"))
