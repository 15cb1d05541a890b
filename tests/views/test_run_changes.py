"""The Run page: a value is changed and the run goes on; the memory of the run beside its registers."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from streamlit.testing.v1 import AppTest

from relax_core.engine.programs.program import ChangeAt
from tests.browser import Mode, OpenPage, open_popover, rest
from tests.views.pages import assert_accessible, opened, sent_to
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


def address(app: AppTest) -> str:
    return str(app.query_params["changes"]) if "changes" in app.query_params else ""


def test_a_change_is_made_listed_and_taken_back() -> None:
    app = opened("run", FIRST)
    _, before = stepper(app)
    after(app, ChangeAt(9, "x = zeros()", 1), ChangeAt(12, "x[0, 1] = 5", 1, is_in_place=True))
    assert address(app).partition(";")[2] == "9.1:x = zeros();12.1!:x[0, 1] = 5"
    assert [item.value for item in app.code if item.value.startswith("time")] == [
        "time 9: x = zeros()",
        "time 12: x[0, 1] = 5 in place",
    ]
    _, changed = stepper(app)
    assert changed["total"] == before["total"]
    assert changed["values"] != before["values"]
    app.toggle(key="run.change.off").set_value(True).run()
    assert stepper(app)[1] == before
    app.toggle(key="run.change.off").set_value(False).run()
    app.button(key="run.change.compare").click().run()
    assert any(item.value.startswith("The run against the changed run: different; ") for item in app.text)
    app.button(key="run.change.1").click().run()
    assert address(app).endswith(";9.1:x = zeros()")
    app.button(key="run.change.0").click().run()
    assert address(app) == ""
    assert stepper(app)[1] == before


def test_an_address_reproduces_the_changed_run_and_not_that_of_another_program() -> None:
    app = after(opened("run", FIRST), ChangeAt(9, "x = x * 3", 1))
    chosen = FIRST.changed(changes=address(app))
    again = opened("run", chosen)
    assert stepper(again)[1] == stepper(app)[1]
    other = opened("run", chosen.changed(seed=1))
    assert not [item for item in other.code if "x * 3" in item.value]
    assert stepper(other)[1] == stepper(opened("run", FIRST.changed(seed=1)))[1]
    broken = opened("run", chosen.changed(changes=address(app) + ";nonsense;12.1:x = 1"))
    assert stepper(broken)[1] == stepper(app)[1], "what stands behind what cannot be read is left out"


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


def test_a_change_before_others_takes_their_place() -> None:
    app = after(opened("run", FIRST), ChangeAt(12, "x = ones()", 1), ChangeAt(9, "x = zeros()", 1))
    assert address(app).partition(";")[2] == "9.1:x = zeros()"


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
    expect(page.get_by_role("button", name=re.compile("^Changed: 1 value"))).to_be_visible()
    expect(page.get_by_role("table", name="Values")).to_contain_text("0.00")
    page.locator(".heat .cell").nth(1).dblclick()
    expect(form.get_by_label("What is changed")).to_have_value("x[0, 1]")
    page.keyboard.press("Escape")
    expect(form).to_have_count(0)
    changed = page.get_by_role("button", name=re.compile("^Changed: 1 value"))
    open_popover(changed)
    page.get_by_role("button", name="Undo").click()
    expect(changed).to_have_count(0)
    # The form behind the list does not open in its place.
    rest(page)
    expect(page.get_by_role("button", name="Write this run")).to_be_hidden()


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
