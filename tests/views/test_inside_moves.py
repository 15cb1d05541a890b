"""Moves inside a kernel are kept until a run of the page has made them: another run may take the place of that one."""

from streamlit.testing.v1 import AppTest

from tests.views.pages import opened, sent_to
from views.state.selection import screen

RACE = screen(sample="gpu/race.py", time=0, inside=0)
MATMUL = screen(sample="tir/matmul.py", time=10, inside=10)
KEPT = ("run.inside.moves", "selection")


def click() -> None:
    """Do what the page does for each of some clicks, before it runs once: all but the last run were cut off."""
    import streamlit as st

    from views.pages.run.inside.component import InsideAction
    from views.pages.run.kernel import on_action

    for kind, clock, text, name in st.session_state["clicks"]:
        on_action(InsideAction(kind, clock, text, name))


def after(app: AppTest, *clicks: tuple[str, int, str, str]) -> int:
    """Return the statement before which the page stands behind the clicks."""
    clicked = AppTest.from_function(click)
    clicked.session_state["clicks"] = clicks
    clicked.session_state["selection"] = app.session_state["selection"]
    clicked.run()
    assert not clicked.exception, [item.value for item in clicked.exception]
    for name in KEPT:
        if name in clicked.session_state:
            app.session_state[name] = clicked.session_state[name]
    app.run()
    assert not app.exception, [item.value for item in app.exception]
    assert KEPT[0] not in app.session_state
    return sent_to(app)["relaxscope_inside"][1]["clock"]


def test_two_moves_before_the_page_ran_are_both_made() -> None:
    app = opened("run", MATMUL)
    # Two rows of 4 cells: an initialisation and three products for each.
    assert after(app, ("move", 0, "next j0", ""), ("move", 0, "next j0", "")) == 8
    assert after(app, ("move", 8, "next i0", ""), ("look", 8, "age", "heat")) == 16


def test_a_step_behind_a_move_does_not_undo_it() -> None:
    app = opened("run", MATMUL)
    assert after(app, ("move", 0, "next j0", ""), ("state", 1, "", "")) == 4


def test_a_move_is_dropped_with_the_run_that_it_was_asked_for() -> None:
    app = opened("run", RACE)
    assert after(app, ("move", 0, "thread", "")) > 0
    # In another order the statements have other numbers, and the run begins anew.
    assert after(app, ("move", 2, "thread", ""), ("look", 2, "turns", "order")) == 0
