"""The partitioned module is run by the reference backend, and its result compared with the unpartitioned one's."""

from collections.abc import Iterable
from typing import Final

import msgspec
import streamlit as st

from relax_core.diagnostics import plural
from relax_core.engine.debug.replies import ValuesCompared, Verdict
from relax_core.engine.debug.requests import CompareValuesOf
from relax_core.engine.protocol import Failure, Program
from relax_core.present.escape import bold, literal, prose
from relax_core.present.regions.partition_models import PartitionView
from relax_core.present.regions.region_models import Flow
from views.pages.partition.state import PartitionState
from views.shell.frame import chip
from views.shell.guide import offer_paragraph
from views.state.session import select, state
from views.worker.connection import ask, run_again

_HELP: Final = "Run the module as it is and with its regions in the reference backend, on the same inputs, and compare"
_SHOWN: Final[dict[Verdict, tuple[str, str]]] = {
    "same": ("✓ same result", "green"),
    "different": ("✕ another result", "red"),
    "stops alike": ("both stop alike", "orange"),
    "not comparable": ("not comparable", "orange"),
}


def show_run(view: PartitionView, program: Program) -> None:
    """Offer to run what partitioning made; once it ran, say how the results compare and what each region was handed."""
    is_on = bool(state(PartitionState).runs)
    if st.button("Hide run" if is_on else "Run", key="partition.run", help=_HELP):
        select(runs=int(not is_on))
        run_again()
        st.rerun()
    if not is_on:
        return
    whole = msgspec.structs.replace(program, pipeline=view.pipeline)
    compared = ask(CompareValuesOf(whole, 0, whole, -1))
    if isinstance(compared, Failure):
        problem = next(iter(compared.problems), None)
        chip(literal(f"no result: {problem.code if problem else compared.title}"), "orange")
        with st.popover("Why"):
            st.markdown(prose(problem.message if problem else compared.message))
            if problem:
                offer_paragraph(problem.code, "partition.result.code")
        return
    found = compared.outcome.verdict if compared.outcome is not None else "not comparable"
    chip(*_SHOWN[found])
    with st.popover("Handed over"):
        _show_hand_over(view, compared)


def _show_hand_over(view: PartitionView, compared: ValuesCompared) -> None:
    same = sum(row.verdict == "same" for row in compared.rows)
    apart = [row for row in compared.rows if row.verdict == "different"]
    words = compared.outcome.words if compared.outcome is not None else "one of the runs has no result"
    st.markdown(prose(f"{words}. Same values: {plural(same, 'variable')}; others: {len(apart)}."))
    for row in apart:
        st.caption(prose(f"`{row.name}`, line {row.line}: {row.words}"))
    for note in compared.notes:
        st.caption(prose(note))
    does = "runs in the reference backend" if "RunCodegen" in view.pipeline else "is a function"
    for row in view.report.regions:
        name = row.external or row.name
        st.markdown(f"{bold(name)} {prose(f'{does} for {row.target}')}")
        parts = (("takes", row.inputs), ("holds", row.constants), ("gives", row.outputs))
        st.caption(prose("; ".join(f"{verb} {_words(flows)}" for verb, flows in parts if flows)))
    if not view.report.regions:
        st.caption("No region was handed to a backend.")


def _words(flows: Iterable[Flow]) -> str:
    return ", ".join(f"`{flow.source} {flow.type}`" if flow.source else f"`{flow.type}`" for flow in flows)
