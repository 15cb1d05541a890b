"""The transformations of a kernel: a switch for each, and what each is worth, measured when that is asked for."""

from typing import Final

import streamlit as st

from relax_core.diagnostics import plural
from relax_core.engine.protocol import Failure, PlansOf, StepCostsOf
from relax_core.present.escape import file_name, literal, prose
from relax_core.present.kernel_models import KernelPlans, KernelView, StepTable, duration
from views.pages.kernels.schedule import choose_schedule
from views.pages.kernels.state import KernelsState
from views.shell.controls.choose import choose
from views.shell.controls.sheet import decimals, microseconds, sheet
from views.shell.failures import show_failure
from views.shell.heights import pane_height
from views.state.session import select, state
from views.widgets.diff.component import diff
from views.worker.connection import ask
from views.worker.program import given_program

_MEASURE: Final = "Time the kernel on made-up arguments, as it is and without each transformation that took part"
_PLAN: Final = "What each transformation made of the loops, as TIR that reads back and computes the same values"


def switched_off() -> tuple[str, ...]:
    """Return the transformations that are switched off."""
    return tuple(name for name in state(KernelsState).without.split(",") if name)


def choose_steps(view: KernelView) -> None:
    """Offer a switch for each transformation of a kernel, and to measure what each is worth."""
    off = [step.name for step in view.steps if step.is_off]
    with st.popover(literal(f"Steps: without {', '.join(off)}" if off else f"Steps: {len(view.steps)}")):
        if view.steps:
            st.caption("What the compiler did to the loops, in its order")
            st.caption("Without a step the values are the same, but for rounding in fast arithmetic.")
        for step in view.steps:
            _switch(step.name, step.summary, is_off=step.is_off)
        choose_schedule()
        if not view.steps:
            st.caption("The compiler left the loops as they are.")
            return
        _choose_plan()
        key = f"{view.name}/{','.join(off)}/{state(KernelsState).sizes}"
        if st.button("Measure", key="kernels.steps.measure", help=_MEASURE):
            st.session_state["kernels.steps.measured"] = key
        if st.session_state.get("kernels.steps.measured") == key:
            _show_costs(view, tuple(off))


def _choose_plan() -> None:
    st.session_state["kernels.plan"] = bool(state(KernelsState).plan)

    def changed() -> None:
        select(plan=int(st.session_state["kernels.plan"]), part=0)

    st.toggle("Show the loops behind each step", key="kernels.plan", help=_PLAN, on_change=changed)


def show_plan(view: KernelView) -> None:
    """Show the loop nest before a transformation beside the one behind it, and why others were not made."""
    sizes = tuple((size.name, size.value) for size in view.sizes if size.value >= 0)
    found = ask(PlansOf(given_program(), view.name, sizes, switched_off()))
    if isinstance(found, Failure):
        show_failure(found)
        return
    if not found.stages:
        st.caption("No transformation took part with these sizes.")
        return
    number = min(state(KernelsState).plan, len(found.stages))
    stage = found.stages[number - 1]
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="kernels.plan.bar"):
        _choose_stage(found, number)
        text, name = found.to_text(), f"{found.kernel}_plan.py"
        st.download_button("All plans", text, name, key="kernels.plan.save", on_click="ignore")
        st.caption(prose(stage.reason[:1].upper() + stage.reason[1:]))
    if stage.diff is None:
        st.code(found.start if number == 1 else _latest(found, number), language="python")
        st.caption("Its loop is in a prim func that is called: it is told in words alone.")
    else:
        diff(stage.diff, key="kernels.plan.diff", height=pane_height(180))
    refused = [item.words.split(": ", 1) for item in view.remarks if item.word == "refused"]
    if refused:
        with st.expander(literal(f"Why not others: {plural(len(refused), 'remark')}")):
            rows = [dict(zip(("Transformation", "Why not"), parts, strict=True)) for parts in refused]
            sheet(rows, key="kernels.plan.refused", name="refused")


def _choose_stage(found: KernelPlans, number: int) -> None:
    names = {at: f"{at} of {len(found.stages)}: {stage.transform}" for at, stage in enumerate(found.stages, 1)}
    choose(
        "Step",
        tuple(names),
        number,
        lambda at: select(plan=at, part=0),
        key="kernels.plan.stage",
        format_func=names.__getitem__,
        width=220,
    )


def _latest(found: KernelPlans, number: int) -> str:
    return next((stage.text for stage in reversed(found.stages[: number - 1]) if stage.text), found.start)


def _switch(name: str, summary: str, *, is_off: bool) -> None:
    key = f"kernels.step.{name}"
    st.session_state[key] = not is_off

    def changed() -> None:
        others = [other for other in switched_off() if other != name]
        select(without=",".join(others if st.session_state[key] else sorted((*others, name))), part=0)

    st.toggle(prose(f"`{name}` {summary}"), key=key, on_change=changed)


def _show_costs(view: KernelView, off: tuple[str, ...]) -> None:
    sizes = tuple((size.name, size.value) for size in view.sizes if size.value >= 0)
    found = ask(StepCostsOf(given_program(), view.name, sizes, off))
    if isinstance(found, Failure):
        show_failure(found)
        return
    _show_table(found)


def _show_table(found: StepTable) -> None:
    st.caption(prose(f"As it is: {duration(found.seconds).strip()}, median of {found.rounds} rounds"))
    rows = [
        {"Without": row.name, "Time, µs": microseconds(row.seconds), "Times as long": row.factor, "Results": row.words}
        for row in found.rows
    ]
    columns = decimals("Time, µs", "Times as long")
    sheet(rows, key="kernels.steps.table", name=f"{file_name(found.kernel)}_steps", columns=columns)
    text, name = found.to_text(), f"{found.kernel}_steps.txt"
    st.download_button("Table", text, name, key="kernels.steps.save", on_click="ignore")
