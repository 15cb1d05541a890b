"""A schedule that is written by hand: applied to the kernel, checked by value, and timed behind each of its steps."""

import re
from typing import Final

import msgspec
import streamlit as st

from relax_core.diagnostics import plural
from relax_core.engine.protocol import Failure, ScheduleOf
from relax_core.engine.scheduling.beside_tvm import beside_tvm, installed_tvm
from relax_core.present.escape import file_name, literal, prose
from relax_core.present.kernel_models import KernelView, Rung, ScheduleTable
from views.pages.kernels.state import KernelsState
from views.shell.controls.choose import choose
from views.shell.controls.sheet import decimals, filled, microseconds, sheet
from views.shell.failures import show_failure, show_problems
from views.shell.heights import pane_height
from views.state.session import select, state
from views.widgets.diff.component import diff
from views.worker.connection import ask, keep_reply, known_reply
from views.worker.program import given_program

_TEXT: Final = "kernels.schedule.text"
_TIMED: Final = "kernels.schedule.timed"
"""Of what the table was asked for: the kernel, its sizes and the schedule."""
_HELP: Final = "Split, reorder, vectorize and so on: apply steps of your own to this kernel, and time it behind each"
_WORDS: Final = (
    "One step a line, in TVM's words: `Split`, `Fuse`, `Reorder`, `Vectorize`, `Unroll`, `Parallel`, `CacheWrite`, "
    "`ReverseComputeAt`, `DecomposeReduction` and others. Blocks and loops are named as in the text."
)
_THEIR_WORDS: Final = (
    "apache-tvm {} built each kernel by its default pipeline and ran it on the same arguments, in a run of its own; "
    "its results are compared with those of ours as it is written."
)
_BLOCK: Final = re.compile(r'T\.s?block\("([^"]+)"')
_LOOP: Final = re.compile(r"^ *for (\w+)", re.MULTILINE)
_THEIR_TIME: Final = "apache-tvm's time, µs"


def choose_schedule() -> None:
    """Offer to write a schedule in place of what the compiler makes of the kernel."""
    st.session_state["kernels.by_hand"] = bool(state(KernelsState).by_hand)

    def changed() -> None:
        select(by_hand=int(st.session_state["kernels.by_hand"]))

    st.toggle("Write a schedule by hand", key="kernels.by_hand", help=_HELP, on_change=changed)


def show_schedule(view: KernelView) -> None:
    """Show the field for the steps, and what each is worth once that is asked for."""
    sizes = tuple((size.name, size.value) for size in view.sizes if size.value >= 0)
    st.session_state[_TEXT] = state(KernelsState).schedule

    def changed() -> None:
        select(schedule=st.session_state[_TEXT], rung=0)

    with st.container(key="kernels.schedule.pane", gap="small"):
        st.text_area(
            "Steps of the schedule",
            key=_TEXT,
            height=170,
            max_chars=4000,
            placeholder=_example(view),
            help=_WORDS,
            on_change=changed,
        )
        text = state(KernelsState).schedule
        asked = (view.name, sizes, text)
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            st.button("Apply and time", key="kernels.schedule.apply", type="primary", on_click=_ask_for, args=asked)
            name = f"{file_name(view.name)}_schedule.txt"
            st.download_button(
                "Save the steps", text, name, key="kernels.schedule.save", disabled=not text, on_click="ignore"
            )
        if st.session_state.get(_TIMED) != asked:
            st.code(view.tir.text, language="python")
            return
        found = _timed(ScheduleOf(given_program(), view.name, sizes, _in_one_line(text)))
        if isinstance(found, Failure):
            show_failure(found)
            return
        _show(found)


def _timed(asked: ScheduleOf) -> ScheduleTable | Failure:
    """Return the table with apache-tvm's times, which are measured once for what is asked."""
    if (known := known_reply(asked)) is not None:
        return known
    tvm = installed_tvm()
    for_tvm = msgspec.structs.replace(asked, tvm="" if tvm is None else tvm.words)
    found = ask(for_tvm)
    if isinstance(found, Failure):
        return found
    place = st.empty()
    found = beside_tvm(found, tvm, lambda words: place.caption(prose(words)))
    place.empty()
    # What was handed to apache-tvm is large, and of no more use.
    keep_reply(for_tvm, found)
    keep_reply(asked, found)
    return found


def _ask_for(*asked: object) -> None:
    st.session_state[_TIMED] = asked


def _in_one_line(text: str) -> str:
    """Put commas between lines that have none."""
    lines = (line.strip().rstrip(",") for line in text.splitlines())
    return ", ".join(line for line in lines if line and not line.startswith("#"))


def _example(view: KernelView) -> str:
    """Return a step that splits the outermost loop of the kernel."""
    block, loop = _BLOCK.search(view.tir.text), _LOOP.search(view.tir.text)
    return f"Split(block='{block[1] if block else 'C'}', loop='{loop[1] if loop else 'i'}', factors=[None, 8])"


def _show(found: ScheduleTable) -> None:
    if found.problems:
        st.error(literal(f"The schedule ends behind {plural(len(found.rungs) - 1, 'step')}: the next one is refused."))
        show_problems(found.problems)
    rows, theirs = [_row(name, rung, found) for name, rung in found.rows], found.theirs
    # The last row is what our compiler makes of the kernel: it is no step of the schedule.
    for row, rung in zip(rows[:-1], theirs.rungs if theirs is not None else (), strict=False):
        row[_THEIR_TIME] = microseconds(rung.seconds)
        row["apache-tvm's results"] = rung.words
    columns = decimals("Time, µs", "Times as fast", "GFLOP/s", _THEIR_TIME)
    sheet(filled(rows), key="kernels.schedule.table", name=f"{file_name(found.kernel)}_steps", columns=columns)
    if theirs is not None:
        st.caption(prose(theirs.problem or _THEIR_WORDS.format(theirs.version)))
    text, name = found.to_text(), f"{file_name(found.kernel)}_rungs.txt"
    st.download_button("Save the table", text, name, key="kernels.schedule.table.save", on_click="ignore")
    if len(found.rungs) < 2:
        return
    number = min(state(KernelsState).rung or len(found.rungs) - 1, len(found.rungs) - 1)
    _choose_rung(found, number)
    shown = found.rungs[number]
    if shown.diff is None or shown.text == found.rungs[number - 1].text:
        st.caption(prose("This step left the text as it was."))
    else:
        diff(shown.diff, key="kernels.schedule.diff", height=pane_height(420))


def _row(name: str, rung: Rung, found: ScheduleTable) -> dict[str, object]:
    return {
        "Behind": name,
        "Time, µs": microseconds(rung.seconds),
        "Times as fast": found.factor(rung) or None,
        "GFLOP/s": found.rate(rung) or None,
        "Results": rung.words,
    }


def _choose_rung(found: ScheduleTable, number: int) -> None:
    names = {at: f"{at} of {len(found.rungs) - 1}: {rung.step}" for at, rung in enumerate(found.rungs) if at}
    choose(
        "What the step changes",
        tuple(names),
        number,
        lambda at: select(rung=at),
        key="kernels.schedule.rung",
        format_func=names.__getitem__,
    )
