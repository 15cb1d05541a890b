"""The inputs and options of the Run page: what is chosen is in the address, and what is given is looked at."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect
from streamlit.testing.v1 import AppTest

from tests.browser import rest
from tests.views.pages import REPOSITORY, opened, sent_to
from views.state.selection import screen

REUSED = "relax/storage_reused.py"
# Without the call that writes it, `c` holds what `a` left in the storage, or what poison makes of it.
READ_TOO_EARLY = (REPOSITORY / "samples" / REUSED).read_text(encoding="utf-8").replace("cls.double(b, c)", "pass")
EARLY = screen(sample=REUSED, text=READ_TOO_EARLY)
UNWRITTEN = screen(sample="errors/jt_unwritten.py")
SIZED = "seeds/my_ir_module_corrected.py"


def run_of(app: AppTest) -> dict[str, Any]:
    """Return the run that the page shows; a reading of its bytes needs no browser."""
    return sent_to(app)["relaxscope_stepper"][1]


def said(app: AppTest) -> str:
    shown = (item.value for item in (*app.markdown, *app.error, *app.text, *app.caption, *app.code))
    return "\n".join((*shown, *(button.label for button in app.button)))


def test_inputs_of_both_signs_are_chosen_on_the_page_and_kept_in_the_address() -> None:
    app = opened("run", screen(sample="relax/mlp.py"))
    plain = run_of(app)
    app.toggle(key="run.signed").set_value(True).run()
    assert not app.exception
    assert app.query_params["signed"] == "1"
    signed = run_of(app)
    assert "-0." in str(signed["values"])
    assert "-0." not in str(plain["values"])
    again = opened("run", screen(sample="relax/mlp.py", signed=1))
    assert run_of(again)["values"] == signed["values"]


def test_poisoned_memory_is_chosen_on_the_page_and_kept_in_the_address() -> None:
    app = opened("run", EARLY)
    plain = run_of(app)
    assert not app.toggle(key="run.poisoned").value
    app.toggle(key="run.poisoned").set_value(True).run()
    assert app.query_params["poisoned"] == "1"
    poisoned = run_of(app)
    assert poisoned["values"] != plain["values"]
    again = opened("run", EARLY.changed(poisoned=1))
    assert again.toggle(key="run.poisoned").value
    assert run_of(again)["values"] == poisoned["values"]
    app.toggle(key="run.poisoned").set_value(False).run()
    assert "poisoned" not in app.query_params
    assert run_of(app)["values"] == plain["values"]


def test_elements_that_nothing_wrote_are_looked_for_on_request() -> None:
    app = opened("run", UNWRITTEN)
    assert "JT020" not in said(app)
    app.toggle(key="run.unwritten").set_value(True).run()
    assert app.query_params["unwritten"] == "1"
    assert "JT020" in said(app)


def test_the_bugs_that_were_reported_are_switched_on_and_off_on_the_page() -> None:
    app = opened("run", screen(sample="seeds/print_closure.py", as_in="reported"))
    assert "BC001" in said(app)
    app.toggle(key="run.as_in").set_value(False).run()
    assert "BC001" not in said(app)
    assert "as_in" in app.query_params
    assert run_of(app)["problem"] is None
    app.toggle(key="run.as_in").set_value(True).run()
    assert app.query_params["as_in"] == "reported"
    assert "BC001" in said(app)


def test_a_size_of_no_dimension_is_said_and_dropped() -> None:
    app = opened("run", screen(sample=SIZED, dims="m=5,q=4,n=3"))
    assert app.query_params["dims"] == "m=5,n=3"
    (shown,) = [item.value for item in app.markdown if "no dimension" in item.value]
    assert "q" in shown
    app.run()
    assert not app.error
    stages = opened("passes", screen(sample=SIZED, dims="q=4", results=1))
    assert "dims" not in stages.query_params


@pytest.mark.browser
def test_memory_that_is_poisoned_is_chosen_with_the_mouse(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/run?sample=relax/storage_reused.py")
    rest(page)
    page.get_by_role("button", name="Options").click()
    page.get_by_text("Fill new tensors in a storage with 0xFF").click()
    expect(page.get_by_role("button", name="Options: poisons memory")).to_be_visible()
    page.wait_for_url("**poisoned=1**")
