"""The Run page: the program step by step, forwards and backwards, with its registers and output."""

import streamlit as st

from relax_core.engine.protocol import Failure, Open, RunOf, SourceView, StopOf
from relax_core.jit.options import MODES
from relax_core.present.run_models import Breakpoint, Run
from views.connection import ask, mode_of, program_of, run_again, show_failure
from views.frame import bar, chip, page, status_line
from views.state import select, selection
from views.widgets.stepper import StepperAction, stepper

# Which way the user continued, to a breakpoint that is not in the window that the browser has.
_CONTINUES = "run.continues"
# Which window the browser has: a number for the program, the event it was asked with, its first time and its last.
_WINDOW = "run.window"


def _on_step(action: StepperAction) -> None:
    match action.kind:
        case "state":
            select(time=action.at, view=action.by, breakpoints=_written(action.breakpoints))
        case "need":
            select(time=action.to, view=action.by, breakpoints=_written(action.breakpoints))
            if action.command in ("continue", "continue_back"):
                st.session_state[_CONTINUES] = action.command
        case _:
            pass


def _written(breakpoints: tuple[Breakpoint, ...]) -> str:
    """Write breakpoints as the address holds them: `8` a line, `@12` an instruction, `-` in front if off."""
    return ",".join(
        f"{'' if point.is_on else '-'}{f'@{point.pc}' if point.pc >= 0 else point.line}" for point in breakpoints
    )


def _read(text: str) -> tuple[Breakpoint, ...]:
    points: list[Breakpoint] = []
    for part in text.split(","):
        is_on = not part.startswith("-")
        place = part.lstrip("-")
        if place.removeprefix("@").isdecimal():
            number = int(place.removeprefix("@"))
            points.append(Breakpoint(pc=number, is_on=is_on) if "@" in place else Breakpoint(line=number, is_on=is_on))
    return tuple(points)


def _inputs_form(source: SourceView) -> None:
    current = selection()
    with st.popover(f"Inputs: seed {current.seed}"):
        seed = st.number_input("Seed of the generated inputs", min_value=0, value=current.seed, key="run.seed")
        if int(seed) != current.seed:
            select(seed=int(seed), time=-1)
            st.rerun()
        entries = source.entries
        if len(entries) > 1:
            shown = current.entry if current.entry in entries else entries[0]
            entry = st.selectbox("Function", entries, index=entries.index(shown), key="run.entry")
            if entry != shown:
                select(entry=entry, time=-1)
                st.rerun()


def _options_form() -> None:
    current = selection()
    mode = mode_of(current)
    with st.popover(f"Arithmetic: {mode}"):
        chosen = st.segmented_control("How kernels round", MODES, default=mode, key="run.mode") or mode
        finds = st.toggle("Stop at an element that nothing wrote", value=bool(current.unwritten), key="run.unwritten")
    if chosen != mode or finds != bool(current.unwritten):
        select(mode=chosen, unwritten=int(finds), time=-1)
        st.rerun()


def _continue() -> None:
    """Go to the breakpoint that the user continued to, if it lies outside of the window."""
    command = st.session_state.pop(_CONTINUES, "")
    if not command:
        return
    current = selection()
    points = _read(current.breakpoints)
    stop = ask(StopOf(program_of(current), max(0, current.time), points, is_back=command == "continue_back"))
    if not isinstance(stop, Failure):
        select(time=stop.time)


def _run() -> Run | Failure:
    """Ask for the window of the run that is shown; it stays while the time is in it, so that a step sends nothing."""
    program, time = program_of(selection()), max(0, selection().time)
    name, event, first, last = st.session_state.get(_WINDOW, (0, 0, 0, -1))
    if name != hash(program) or not first <= time <= last:
        event = time
    run = ask(RunOf(program, event))
    if isinstance(run, Run):
        st.session_state[_WINDOW] = (hash(program), event, run.first_event, run.first_event + len(run.events))
    return run


def _show(run: Run) -> None:
    current = selection()
    stepper(
        run,
        key="run.stepper",
        at=min(current.time, run.total) if current.time >= 0 else None,
        by="instruction" if current.view == "instruction" else "binding",
        breakpoints=_read(current.breakpoints),
        on_action=_on_step,
    )


with page():
    with bar():
        form = st.container(horizontal=True, vertical_alignment="center", gap="xsmall", width="content")
        if st.button("Run again", type="primary", key="run.again"):
            run_again()
            select(time=-1)
    source = ask(Open(program_of(selection())))
    _continue()
    run = _run()
    if not isinstance(source, Failure):
        with form:
            _inputs_form(source)
            _options_form()
            if isinstance(run, Run):
                chip(f"compiled, {len(run.functions)} function{'' if len(run.functions) == 1 else 's'}")
    if isinstance(run, Failure):
        show_failure(run)
    else:
        _show(run)
    status_line(
        None if isinstance(source, Failure) else source.status,
        f"Recorded {run.total:,} events" if isinstance(run, Run) else "",
    )
