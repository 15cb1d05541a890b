"""The Run page: the program step by step, forwards and backwards, with its registers and output."""

import streamlit as st

from relax_core.engine.components.stepper import StepperAction, logged
from relax_core.engine.debug.requests import MemoryOf
from relax_core.engine.programs.program import Program
from relax_core.engine.protocol import Failure, Open, SourceView
from relax_core.engine.replies import OpenedRun
from relax_core.present.models import LineHeat
from relax_core.present.running.memory_models import MemoryView
from relax_core.present.running.run_models import Run
from views.lessons.steps import held_back
from views.pages.run.dataflow import shown_dataflow
from views.pages.run.forked.changes import ask_for_change, fault, make_change
from views.pages.run.forked.tree import call_dialog, forks_form, told
from views.pages.run.forms import buffers_form, options_form, profile_button, values_form
from views.pages.run.inputs import inputs_form
from views.pages.run.kernel import enter, show_kernel
from views.pages.run.points import read, written
from views.pages.run.program import given_program, run_program
from views.pages.run.recorded import FIXED, files_form, open_asked, recorded_form, recorded_run, show_refusal
from views.pages.run.state import RunState
from views.pages.run.stepper.component import stepper
from views.pages.run.tensor import shown_tensor, tensor_form
from views.pages.run.tensor import written as written_tensor
from views.pages.run.watches import watched
from views.pages.run.window import continue_as_asked, follow, hits, window
from views.shell.failures import show_failure
from views.shell.frame import bar, group, page, status_line
from views.shell.guide import offer_paragraph
from views.shell.heat import heat_form
from views.shell.heights import pane_height
from views.shell.reports import offer_report
from views.shell.selecting import on_graph
from views.state.dialogs import ask_for_meaning
from views.state.session import select, state
from views.state.shared import FocusState
from views.worker.connection import ask, run_again
from views.worker.program import drop_unknown_sizes

# What stands beside the registers.
_TABS = (("source", "Source"), ("graph", "Graph"), ("memory", "Memory"), ("tensor", "Tensor"))


def _shown_program() -> Program:
    """Return the program whose run is shown: one that comes with a recorded run, or what is open."""
    recorded = recorded_run()
    return recorded.program if recorded is not None else run_program()


def _on_step(action: StepperAction) -> None:
    match action.kind:
        case "state" | "need":
            follow(action)
        case "inside":
            enter(action.to)
        case "explain":
            select(time=action.at, view=action.by, breakpoints=written(action.breakpoints))
            ask_for_meaning(*action.names, about=action.text)
        case "tab":
            select(tab="" if action.command == _TABS[0][0] else action.command)
        case "change":
            select(time=action.at, view=action.by, breakpoints=written(action.breakpoints))
            ask_for_change(action)
        case "watch":
            select(
                time=action.at, view=action.by, breakpoints=written(action.breakpoints), watches="; ".join(action.names)
            )
        case "tensor" if action.tensor is not None:
            tensor = written_tensor(action.tensor)
            select(time=action.at, view=action.by, breakpoints=written(action.breakpoints), tab="tensor", tensor=tensor)
        case "graph" if action.graph is not None:
            select(time=action.at, view=action.by, breakpoints=written(action.breakpoints))
            on_graph("run", action.graph)
        case _:
            pass


def _to_the_stop(run: Run) -> None:
    """Say that the run did not return, and lead to where it stopped."""
    if run.problem is None:
        return
    offer_paragraph(run.problem.code, "run.code")
    if state(RunState).time < run.total:
        st.button("To the error", key="run.error", on_click=_go, args=(run.total,))


def _go(time: int) -> None:
    select(time=time)


def _memory() -> MemoryView | None:
    """Ask for the memory of the run while its tab is open."""
    if state(RunState).tab != "memory":
        return None
    reply = ask(MemoryOf(_shown_program()))
    return None if isinstance(reply, Failure) else reply


def _show(run: Run, source: SourceView | Failure, heat: LineHeat | None) -> None:
    focus, own, held = state(FocusState), state(RunState), held_back("run")
    has_tabs = held is None or bool(held.tab)
    dataflow = None
    if has_tabs and isinstance(source, SourceView):
        dataflow = shown_dataflow(_shown_program(), source, run, heat)
    stepper(
        run,
        key="run.stepper",
        at=min(own.time, run.total if held is None else held.time) if own.time >= 0 else None,
        by="instruction" if focus.view == "instruction" else "binding",
        breakpoints=read(own.breakpoints),
        hits=hits(run, _shown_program()),
        fault=fault(),
        fixed=FIXED if recorded_run() is not None else "",
        tabs=_TABS if has_tabs else (),
        tab=(own.tab if has_tabs else "") or _TABS[0][0],
        memory=_memory() if has_tabs else None,
        tensor=shown_tensor(_shown_program()) if has_tabs else None,
        watched=watched(_shown_program(), run.total) if held is None else None,
        logs=logged(ask, _shown_program(), read(own.breakpoints)) if held is None else None,
        heat=heat,
        dataflow=dataflow,
        until=-1 if held is None else held.time,
        height=pane_height(),
        on_action=_on_step,
    )


def _files_form(run: Run | Failure, found: OpenedRun | None) -> None:
    """Offer the run and its values as files, and take those of others."""
    with st.popover("Files"):
        files_form(run, found)
        if isinstance(run, Run):
            values_form(run, _shown_program(), is_recorded=found is not None)
            tensor_form(_shown_program())


def _results(run: Run, source: SourceView) -> None:
    """Show in the bar what the run came to."""
    if source.functions and not source.entries and source.code.language != "relay":
        buffers_form(_shown_program())
    why_not = FIXED if recorded_run() is not None else ""
    if not why_not:
        call_dialog()
    profile_button(why_not)
    if state(RunState).inside < 0:
        _to_the_stop(run)


with page():
    with bar("run") as files:
        form = group()
        recorded = recorded_run()
        words = FIXED if recorded is not None else None
        if st.button("Run again", type="primary", key="run.again", disabled=recorded is not None, help=words):
            run_again()
            select(time=-1)
    open_asked()
    show_refusal()
    source = ask(Open(given_program() if recorded is None else recorded.program))
    is_cancelled = isinstance(source, Failure) and source.kind == "cancelled"
    if isinstance(source, SourceView) and recorded is None:
        drop_unknown_sizes(source)
    if not is_cancelled:
        if recorded is None:
            make_change()
        continue_as_asked(_shown_program())
    run = source if isinstance(source, Failure) and is_cancelled else window(_shown_program())
    # What the run comes to is not told before it is predicted.
    is_held = held_back("run") is not None
    with form:
        if recorded is not None:
            recorded_form()
        elif isinstance(source, SourceView):
            inputs_form(source)
            options_form()
            if isinstance(run, Run):
                forks_form(run)
        if not is_held:
            # A recorded run comes with its own program, whatever is open.
            _files_form(run, recorded)
        heat = None
        if isinstance(run, Run) and isinstance(source, SourceView) and not is_held:
            _results(run, source)
            # Within a kernel no source is shown that it could colour.
            if state(RunState).inside < 0:
                heat = heat_form(_shown_program(), FIXED if recorded is not None else "")
    if not is_cancelled:
        with files:
            offer_report("run", _shown_program())
    if isinstance(run, Failure):
        show_failure(run)
    elif state(RunState).inside >= 0:
        show_kernel(_shown_program())
    else:
        _show(run, source, heat)
    recorded_words = f"Recorded {run.total:,} events" if isinstance(run, Run) and not is_held else ""
    done = told(run) if isinstance(run, Run) and not is_held else ""
    status_line(source, "; ".join(filter(None, (recorded_words, done))))
