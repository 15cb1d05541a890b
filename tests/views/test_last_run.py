"""The Source page tells what names held in the last run of the text that is open."""

from contextlib import suppress

import pytest
from playwright.sync_api import Page, TimeoutError, expect
from streamlit.testing.v1 import AppTest

from tests.processes import wait_until
from tests.views.pages import REPOSITORY, arrive, opened, page_file, sent_to
from tests.views.test_run_watches import PLACE_OF
from views.state.address import to_address
from views.state.selection import Selection, screen

LOOP = screen(sample="relax/loop.py")


def source_after(run: AppTest, selection: Selection) -> AppTest:
    """Return the Source page of the session in which the Run page was shown."""
    app = AppTest.from_file(str(REPOSITORY / page_file("source")), default_timeout=120)
    app.session_state["run.window"] = run.session_state["run.window"]
    arrive(app, to_address(selection))
    assert not app.exception
    return app


def told(app: AppTest) -> dict[str, str]:
    return {value[0]: value[3] for value in sent_to(app)["relaxscope_editor"][0]["values"]}


def test_only_the_text_that_ran_has_values() -> None:
    assert told(opened("source", LOOP)) == {}
    run = opened("run", LOOP)
    assert told(source_after(run, LOOP))["following"] == "8"
    assert told(source_after(run, screen(sample="relax/mlp.py"))) == {}
    assert told(source_after(run, screen(sample="relax/loop.py", seed=3))) == {}


@pytest.mark.browser
def test_a_name_under_the_pointer_has_its_last_value(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/run?sample=relax/loop.py")
    expect(page.get_by_role("region", name="Source", exact=True)).to_be_visible()
    page.get_by_role("link", name="Source", exact=True).click()
    line = page.locator(".cm-line", has_text="following = ")
    tip = page.locator(".cm-tooltip-hover .last-value")

    def is_told() -> bool:
        # While the page is made its lines move away from under the pointer, and a tip is closed.
        page.mouse.move(0, 0)
        page.mouse.move(*line.evaluate(PLACE_OF, "following"))
        with suppress(TimeoutError):
            tip.wait_for(timeout=5_000)
        return tip.is_visible()

    assert wait_until(is_told)
    expect(tip).to_contain_text("() i64 8")
    expect(tip).to_contain_text("in the last run of this text, in @main_loop")
