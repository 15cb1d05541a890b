"""The Run page: a value is changed and the run goes on; the memory of the run beside its registers."""

import html
import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from streamlit.testing.v1 import AppTest

from relax_core.engine.programs.program import ChangeAt
from tests.browser import Mode, OpenPage, open_popover, rest
from tests.views.pages import assert_accessible, assert_fits, opened, sent_to
from views.state.address import from_address
from views.state.selection import screen
from views.state.shared import ProgramState

FIRST = screen(sample="relax/loop.py", time=9)


def stepper(app: AppTest) -> tuple[dict[str, Any], dict[str, Any]]:
    return sent_to(app)["relaxscope_stepper"]


def after(app: AppTest, *changes: ChangeAt) -> AppTest:
    """Do what the component does when the user asks for a change."""
    for change in changes:
        app.session_state["run.change"] = change
        app.run()
        assert not app.exception, [item.value for item in app.exception]
    return app


def shown_labels(app: AppTest) -> list[str]:
    """Return the lines of the tree of forks."""
    return [html.unescape(label) for label in app.radio(key="run.fork.shown").options]


def show(app: AppTest, line: int) -> None:
    """Show the run in a line of the tree."""
    tree = app.radio(key="run.fork.shown")
    tree.set_value(tree.options[line]).run()


def address(app: AppTest) -> str:
    return str(app.query_params["changes"]) if "changes" in app.query_params else ""


def test_a_change_is_made_listed_and_taken_back() -> None:
    app = opened("run", FIRST)
    _, before = stepper(app)
    after(app, ChangeAt(9, "x = zeros()", 1), ChangeAt(12, "x[0, 1] = 5", 1, is_in_place=True))
    assert address(app).partition(";")[2] == "9.1:x = zeros();12.1!:x[0, 1] = 5"
    assert [label.strip("\N{EM SPACE}") for label in shown_labels(app)] == [
        "the run",
        "Fork 1 · time 9: x = zeros()",
        "Fork 2 · time 12: x[0, 1] = 5 in place",
    ]
    _, changed = stepper(app)
    assert changed["total"] == before["total"]
    assert changed["values"] != before["values"]
    show(app, 0)
    assert stepper(app)[1] == before
    show(app, 2)
    assert stepper(app)[1] == changed
    app.button(key="run.change.compare").click().run()
    assert any(item.value.startswith("Fork 1 against Fork 2: different; ") for item in app.text)
    assert any(html.unescape(item.value).startswith("They part at time 12.") for item in app.markdown)
    app.text_input(key="run.fork.name").set_value("five").run()
    assert [label.strip("\N{EM SPACE}") for label in shown_labels(app)][2] == "five · time 12: x[0, 1] = 5 in place"
    app.button(key="run.fork.drop").click().run()
    assert address(app).endswith(";9.1:x = zeros()")
    app.button(key="run.fork.drop").click().run()
    assert address(app) == ""
    assert stepper(app)[1] == before
    app.button(key="run.changes.undo").click().run()
    app.button(key="run.changes.undo").click().run()
    assert stepper(app)[1] == changed
    assert "five" in shown_labels(app)[2]


def test_an_address_reproduces_the_changed_run_and_not_that_of_another_program() -> None:
    app = after(opened("run", FIRST), ChangeAt(9, "x = x * 3", 1))
    chosen = FIRST.changed(changes=address(app))
    again = opened("run", chosen)
    assert stepper(again)[1] == stepper(app)[1]
    other = opened("run", chosen.changed(seed=1))
    assert not [item for item in other.radio if item.key == "run.fork.shown"]
    assert stepper(other)[1] == stepper(opened("run", FIRST.changed(seed=1)))[1]
    broken = opened("run", chosen.changed(changes=address(app) + ";nonsense;12.1:x = 1"))
    assert stepper(broken)[1] == stepper(app)[1], "what stands behind what cannot be read is left out"


def test_an_older_address_of_the_run_without_its_changes_shows_that_and_keeps_them() -> None:
    app = after(opened("run", FIRST), ChangeAt(9, "x = zeros()", 1))
    older = opened("run", FIRST.changed(changes=address(app), unchanged=1))
    assert stepper(older)[1] == stepper(opened("run", FIRST))[1]
    assert len(shown_labels(older)) == 2
    show(older, 1)
    assert stepper(older)[1] == stepper(app)[1]


def test_a_change_that_does_not_fit_is_said_where_it_is_written_and_changes_nothing() -> None:
    app = opened("run", FIRST)
    _, before = stepper(app)
    after(app, ChangeAt(9, "x = nope", 1))
    view, run = stepper(app)
    assert view["fault"]["text"] == "x = nope"
    assert view["fault"]["problem"]["code"] == "VM032"
    assert run == before
    app.run()
    assert stepper(app)[0]["fault"] is None, "it is said once"


def test_a_change_before_others_makes_a_fork_beside_theirs() -> None:
    app = after(opened("run", FIRST), ChangeAt(12, "x = ones()", 1), ChangeAt(9, "x = zeros()", 1))
    assert address(app).partition(";")[2] == "9.1:x = zeros()"
    assert shown_labels(app)[1:] == [
        "\N{EM SPACE}Fork 1 · time 12: x = ones()",
        "\N{EM SPACE}Fork 2 · time 9: x = zeros()",
    ]


def test_a_call_is_skipped_and_a_function_replaced_in_a_dialog() -> None:
    app = opened("run", screen(sample="relax/mlp.py", time=8))
    app.button(key="run.fork").click().run()
    assert not app.exception, [item.value for item in app.exception]
    value = app.text_input(key="run.fork.value")
    assert value.placeholder.startswith("zeros ")
    value.set_value("nope").run()
    app.button(key="run.fork.skip").click().run()
    assert any("nope" in html.unescape(item.value) for item in app.info)
    app.text_input(key="run.fork.value").set_value("").run()
    app.button(key="run.fork.skip").click().run()
    assert not app.exception, [item.value for item in app.exception]
    assert address(app).endswith(";10.0:skip")
    told = stepper(app)[1]["interventions"]
    assert len(told) == 1
    assert "zeros, which nothing computed, are its result" in told[0]
    app.button(key="run.fork").click().run()
    app.button(key="run.fork.replace").click().run()
    assert stepper(app)[1]["interventions"] == [
        "`matmul` was replaced by its definition in NumPy from time 10 on: 0 calls",
        told[0],
    ], "the only call is skipped"
    show(app, 0)
    app.button(key="run.fork").click().run()
    app.button(key="run.fork.replace").click().run()
    assert [line.count("\N{EM SPACE}") for line in shown_labels(app)] == [0, 1, 2, 1]
    assert stepper(app)[1]["interventions"][0].endswith("definition in NumPy from time 10 on: 1 call")
    other = opened("run", screen(sample="relax/mlp.py").changed(forks=str(app.query_params["forks"])))
    assert shown_labels(other) == shown_labels(app), "the address keeps the tree"
    show(app, 1)
    app.button(key="run.fork.drop").click().run()
    assert [line.count("\N{EM SPACE}") for line in shown_labels(app)] == [0, 1], "what goes on from it goes with it"


def test_the_memory_is_asked_for_while_its_tab_is_open() -> None:
    assert stepper(opened("run", FIRST))[0]["memory"] is None
    chosen = screen(sample="relax/storage_reused.py", tab="memory")
    assert from_address({"sample": chosen.of(ProgramState).sample, "tab": "memory"}) == chosen
    memory = stepper(opened("run", chosen))[0]["memory"]
    assert memory["peak_bytes"] == 48
    assert len(memory["faults"]) == 1


@pytest.mark.browser
def test_a_value_is_changed_in_the_browser(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/run?sample=relax/loop.py&time=9")
    page.get_by_role("button", name="Change", exact=True).click()
    form = page.get_by_role("group", name="Change a value")
    form.get_by_label("Its value").fill("nope")
    form.get_by_label("Its value").press("Enter")
    expect(form.get_by_role("alert")).to_contain_text("there is no nope")
    form.get_by_role("button", name="zeros()").click()
    expect(form.get_by_label("Its value")).to_have_value("zeros()")
    assert_accessible(page, 1440)
    form.get_by_role("button", name="Run on with this value").click()
    expect(page.get_by_role("button", name="Forks")).to_be_visible()
    expect(page.get_by_role("table", name="Values")).to_contain_text("0.00")
    page.locator(".heat .cell").nth(1).dblclick()
    expect(form.get_by_label("What is changed")).to_have_value("x[0, 1]")
    page.keyboard.press("Escape")
    expect(form).to_have_count(0)
    changed = page.get_by_role("button", name="Forks")
    open_popover(changed)
    page.get_by_role("button", name="Undo").click()
    expect(changed).to_have_count(0)
    # The form behind the list does not open in its place.
    rest(page)
    expect(page.get_by_role("button", name="Write this run")).to_be_hidden()


@pytest.mark.browser
def test_a_call_is_skipped_and_the_forks_are_compared_in_the_browser(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/run?sample=relax/mlp.py&time=8")
    open_popover(page.get_by_role("button", name="Options"))
    page.get_by_role("button", name="Skip or replace a call").click()
    dialog = page.get_by_role("dialog", name="Run on otherwise")
    expect(dialog).to_contain_text("Unless you give a value it is zeros (4, 16) float32")
    dialog.get_by_role("button", name="Skip the call and run on").click()
    forks = page.get_by_role("button", name="Forks")
    expect(forks).to_be_visible()
    rest(page)
    open_popover(forks)
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.get_by_text("They part at time 11.")).to_be_visible()
    assert_accessible(page, 1440)
    page.keyboard.press("Escape")
    expect(page.get_by_text("Fork 1: matmul was not called at time 10")).to_be_visible()
    assert_fits(page, has_panes=True)


@pytest.mark.browser
@pytest.mark.parametrize(("mode", "width"), [("light", 1440), ("dark", 390)])
def test_the_memory_leads_to_the_steps(open_page: OpenPage, app_url: str, mode: Mode, width: int) -> None:
    page = open_page(width, 900, mode)
    page.goto(f"{app_url}/run?sample=relax/storage_reused.py&time=1")
    page.get_by_role("tab", name="Memory").click()
    root = page.locator(".root[data-at]").first
    boxes = page.locator(".memory-box")
    expect(boxes).to_have_count(5)
    page.get_by_role("button", name="Step to the read").click()
    expect(root).to_have_attribute("data-at", "14")
    boxes.first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(root).to_have_attribute("data-at", "4")
    expect(boxes.nth(1)).to_have_accessible_name(re.compile("used after its storage was taken again"))
    assert_accessible(page, width)
