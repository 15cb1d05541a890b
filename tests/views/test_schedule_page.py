"""A schedule that is written by hand on the Kernels page: applied, checked by value, timed, and kept as text."""

from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect
from streamlit.testing.v1 import AppTest

from relax_core.engine.scheduling.beside_tvm import VARIABLE
from tests.browser import OpenPage
from tests.views.pages import assert_accessible, opened
from views.state.selection import screen

STEPS = (
    "Split(block='product', loop='j', factors=[None, 8])",
    "Reorder(block='product', loops=['i', 'j_0', 'k', 'j_1']),",
    "# a comment",
    "Vectorize(block='product', loop='j_1')",
)
FIRST = screen(sample="tir/to_schedule.py", kernel="product", by_hand=1)


def written(app: AppTest, *steps: str) -> AppTest:
    app.text_area(key="kernels.schedule.text").set_value("\n".join(steps)).run()
    app.button(key="kernels.schedule.apply").click().run()
    assert not app.exception, [item.value for item in app.exception]
    return app


def test_each_step_is_a_row_with_what_it_is_worth_and_its_text() -> None:
    app = written(opened("kernels", FIRST), *STEPS)
    table: Any = app.dataframe[0].value
    assert list(table["Behind"]) == [
        "as it is written",
        *(step.rstrip(",") for step in STEPS if not step.startswith("#")),
        "all transformations of the compiler",
    ]
    assert {*table["Results"]} == {"the same bits"}
    assert all(number > 0 for number in (*table["GFLOP/s"], *table["Times as fast"], *table["Time, µs"]))
    assert str(app.query_params["schedule"]) == "\n".join(STEPS)
    app.selectbox(key="kernels.schedule.rung").set_value(1).run()
    assert not app.exception


@pytest.mark.tvm
def test_the_times_of_tvm_stand_beside_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE)
    app = written(opened("kernels", FIRST), STEPS[0])
    table: Any = app.dataframe[0].value
    assert [time > 0 for time in table["apache-tvm's time, µs"]] == [True, True, False]
    assert all(text.startswith(("the same bits", "differs by up to")) for text in table["apache-tvm's results"][:2])
    assert any("built each kernel by its default pipeline" in item.value for item in app.caption)
    app.run()
    assert table.equals(app.dataframe[0].value), "they are not measured again"


def test_without_tvm_a_sentence_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "none"))
    app = written(opened("kernels", FIRST), STEPS[0])
    assert list(app.dataframe[0].value) == ["Behind", "Time, µs", "Times as fast", "GFLOP/s", "Results"]
    assert any("pip install apache-tvm" in item.value for item in app.caption)


@pytest.mark.parametrize(("sample", "kernel"), [("tir/to_schedule.py", "product"), ("tir/matmul.py", "matmul")])
def test_the_step_that_the_empty_field_shows_can_be_taken(sample: str, kernel: str) -> None:
    app = opened("kernels", screen(sample=sample, kernel=kernel, by_hand=1))
    app = written(app, app.text_area(key="kernels.schedule.text").placeholder)
    assert len(app.dataframe[0].value) == 3
    assert not app.error


def test_a_step_that_is_refused_ends_the_schedule_and_says_why() -> None:
    app = written(opened("kernels", FIRST), STEPS[0], "Vectorize(block='product', loop='k')", STEPS[1])
    assert len(app.dataframe[0].value) == 3
    assert any("ends behind 1 step" in item.value for item in app.error)
    assert any("reduc" in item.value for item in app.markdown)


def test_a_text_that_is_no_schedule_is_told() -> None:
    app = written(opened("kernels", FIRST), "Splitt(block='product')")
    assert not app.dataframe
    assert any("Splitt" in item.value for item in (*app.error, *app.markdown, *app.text, *app.warning))


@pytest.mark.browser
@pytest.mark.parametrize("width", [1280, 760])
def test_the_table_of_a_schedule_is_accessible(open_page: OpenPage, app_url: str, width: int) -> None:
    page = open_page(width, 900)
    asked = {"sample": "tir/to_schedule.py", "kernel": "product", "by_hand": "1", "schedule": STEPS[0]}
    page.goto(f"{app_url}/kernels?{urlencode(asked)}")
    page.get_by_role("button", name="Apply and time").click()
    expect(page.get_by_role("button", name="Save the table")).to_be_visible()
    assert_accessible(page, width)
