"""The tree of forks in the bar of the Run page, and the form that forks at a call."""

from typing import Final

import msgspec
import streamlit as st

from relax_core.engine.debug.requests import CompareValuesOf
from relax_core.engine.programs.program import ChangeAt, Program
from relax_core.engine.protocol import CallAtOf, Failure
from relax_core.present.escape import literal, prose
from relax_core.present.running.run_models import CallAt, Run
from views.pages.run.forked.changes import keep_asked, offer_forks_back, refused, remember_forks
from views.pages.run.forked.forks import (
    RUN,
    Forks,
    changes_of,
    forks,
    in_order,
    renamed,
    shown_fork,
    with_changes,
    without,
    written_forks,
)
from views.pages.run.forms import FORK_DIALOG, show_comparison
from views.pages.run.program import given_program, run_program, written
from views.pages.run.recorded import recorded_run
from views.pages.run.state import RunState
from views.shell.failures import show_reason
from views.state.dialogs import close_dialog, leave_dialog, page_dialog
from views.state.session import select, state
from views.worker.connection import ask, waiting_in

_SHOWN: Final = "run.fork.shown"
_NAME: Final = "run.fork.name"
_NUMPY: Final = "numpy"
_INDENT: Final = "\N{EM SPACE}"


def call_dialog() -> None:
    """Show the dialog that skips or replaces the call at the time that is shown, if it is asked for."""
    if page_dialog(FORK_DIALOG):
        _show_call()


@st.dialog("Run on otherwise", on_dismiss=close_dialog)
def _show_call() -> None:
    with waiting_in(st.container()):
        call = ask(CallAtOf(run_program(), max(0, state(RunState).time)))
    if isinstance(call, Failure):
        show_reason(call, FORK_DIALOG)
        return
    if not call.name:
        st.caption(literal(f"The program makes no call at time {call.time}: step to one."))
        return
    st.markdown(prose(f"At time {call.time} `{call.name}` is about to be called."))
    asked = _skip_asked(call) or _replacement_asked(call)
    if asked is None:
        return
    failure = refused(asked)
    if failure is not None:
        show_reason(failure, FORK_DIALOG)
        return
    keep_asked(asked)
    leave_dialog()


def _skip_asked(call: CallAt) -> ChangeAt | None:
    words = "A number, `x * 2` of what is known here, `zeros()`, `ones()`, `random(7)`"
    shown = "" if call.is_open else call.result
    value = ""
    if call.result:
        value = st.text_input("Its result if it is skipped", key="run.fork.value", placeholder=shown, help=prose(words))
    if not value:
        unknown = call.result or "It gives nothing, and writes no tensor."
        st.caption(prose(f"Unless you give a value it is {shown}, which nothing computes." if shown else unknown))
    if st.button("Skip the call and run on", key="run.fork.skip", type="primary"):
        return ChangeAt(call.time, f"skip: {value}" if value.strip() else "skip", call.depth)
    return None


def _replacement_asked(call: CallAt) -> ChangeAt | None:
    if not call.substitutes:
        st.caption(prose(f"Nothing has the signature of `{call.name}`, nor is it defined in NumPy."))
        return None
    by = st.selectbox(
        "Function in its place", call.substitutes, key="run.fork.by", format_func=lambda name: literal(_by(name))
    )
    if st.button("Replace it from here on", key="run.fork.replace"):
        return ChangeAt(call.time, f"replace {call.name} by {by}", call.depth)
    return None


def _by(name: str) -> str:
    return "its definition in NumPy" if name == _NUMPY else name


def forks_form(run: Run) -> None:
    """Show the forks as a tree, if there are any: which one is shown, its name, and how two of them differ."""
    tree = forks()
    # It keeps its place even when empty: the popover behind it would open in the place of the list.
    with st.empty().container():
        if not tree:
            offer_forks_back()
            return
        shown = shown_fork(tree)
        with st.popover("Forks"):
            _choose(tree, shown)
            for words in run.interventions:
                st.caption(prose(words))
            if shown != RUN:
                _one(tree, shown)
            offer_forks_back()
            _compare(tree, shown)


def told(run: Run) -> str:
    """Return which fork is shown and what was done to it; empty of the run itself."""
    tree = forks() if recorded_run() is None else ()
    shown = shown_fork(tree)
    done = (item.replace("`", "") for item in run.interventions[:1])
    more = f"and {len(run.interventions) - 1} more" if len(run.interventions) > 1 else ""
    words = "; ".join(filter(None, (*done, more)))
    return ": ".join(filter(None, (_name(tree, shown) if shown != RUN else "", words)))


def _choose(tree: Forks, shown: int) -> None:
    labels = [literal(line) for line in _lines(tree)]
    st.session_state[_SHOWN] = labels[_numbers(tree).index(shown)]
    st.radio("Shown run", labels, key=_SHOWN, on_change=_show)


def _numbers(tree: Forks) -> list[int]:
    """Return the numbers of all runs in the order in which they stand."""
    return [RUN, *(number for number, _ in in_order(tree))]


def _lines(tree: Forks) -> list[str]:
    """Return a line for each run, indented, no two of which are alike."""
    found = [_name(tree, RUN)]
    for number, depth in in_order(tree):
        line = _INDENT * (depth + 1) + _line(tree, number)
        found.append(f"{line} ({number + 1})" if line in found else line)
    return found


def _line(tree: Forks, number: int) -> str:
    change = tree[number].change
    return f"{tree[number].name} · time {change.time}: {change.text}{' in place' if change.is_in_place else ''}"


def _name(tree: Forks, number: int) -> str:
    return "the run" if number == RUN else tree[number].name


def _show() -> None:
    tree = forks()
    labels = [literal(line) for line in _lines(tree)]
    number = _numbers(tree)[labels.index(st.session_state[_SHOWN])]
    select(changes=written(changes_of(tree, number)), forks=written_forks(tree), unchanged=0)


def _one(tree: Forks, shown: int) -> None:
    """Rename the fork that is shown, or drop it."""
    st.session_state[_NAME] = tree[shown].name
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.text_input("Name", key=_NAME, max_chars=60, on_change=_rename, args=(shown,))
        later = len(tree) - len(without(tree, shown)) - 1
        words = f"Drop it and {later} that go on from it" if later else "Drop it"
        st.button("Drop", key="run.fork.drop", help=literal(words), on_click=_drop, args=(shown,))


def _rename(number: int) -> None:
    tree = forks()
    remember_forks()
    select(forks=written_forks(renamed(tree, number, st.session_state[_NAME])))


def _drop(number: int) -> None:
    """Drop a fork with all that go on from it; what it goes on from is shown."""
    tree = forks()
    remember_forks()
    changes = changes_of(tree, tree[number].parent)
    tree = with_changes(without(tree, number), changes)
    select(changes=written(changes), forks=written_forks(tree), unchanged=0)


def _compare(tree: Forks, shown: int) -> None:
    numbers = _numbers(tree)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        chosen = [
            st.selectbox(
                literal(label), numbers, numbers.index(first), key=key, format_func=lambda at: literal(_name(tree, at))
            )
            for label, first, key in (
                ("Compare", tree[shown].parent if shown != RUN else RUN, f"run.fork.left.{len(tree)}.{shown}"),
                ("with", shown if shown != RUN else numbers[-1], f"run.fork.right.{len(tree)}.{shown}"),
            )
        ]
        is_asked = st.button("Compare", key="run.change.compare", type="primary", disabled=chosen[0] == chosen[1])
    if not is_asked:
        return
    left, right = (_program(tree, number) for number in chosen)
    found = ask(CompareValuesOf(left, -1, right, -1))
    if not isinstance(found, Failure):
        names = [_name(tree, number) for number in chosen]
        found = msgspec.structs.replace(found, left=names[0][:1].upper() + names[0][1:], right=names[1])
    show_comparison(found, "run.change.compared")


def _program(tree: Forks, number: int) -> Program:
    return msgspec.structs.replace(given_program(), changes=changes_of(tree, number))
