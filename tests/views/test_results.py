"""Looking for faults on the pages: results after every pass, values of bindings, inputs of one's own, time by line."""

import html
import io
import re

import numpy as np
import pytest
from playwright.sync_api import Page, expect
from streamlit.testing.v1 import AppTest

from tests.views.pages import assert_accessible, opened, sent_to
from views.state.address import from_address, to_address
from views.state.selection import screen
from views.state.shared import ProgramState
from views.worker.program import sizes_of

FIRST = screen(sample="relax/loop.py")


def chips(app: AppTest) -> list[str]:
    """Return what the page's Markdown shows: text of programs stands there as numbered characters."""
    return [html.unescape(item.value) for item in app.markdown]


def test_results_are_a_part_of_the_address_and_mark_every_stage() -> None:
    shown = FIRST.changed(results=1)
    assert from_address(to_address(shown)) == shown
    app = opened("passes", shown)
    view, model = sent_to(app)["relaxscope_pipeline"]
    assert [item[0] for item in view["verdicts"]] == [stage["index"] for stage in model["stages"]]
    assert {item[1] for item in view["verdicts"]} == {"reference", "same"}
    assert any("✓ same: 1 result in 13 stages" in text for text in chips(app))


def test_results_are_not_asked_for_unless_they_are_shown() -> None:
    app = opened("passes", FIRST)
    view, _ = sent_to(app)["relaxscope_pipeline"]
    assert view["verdicts"] == []
    app.button(key="passes.results").click().run()
    assert not app.exception
    view, _ = sent_to(app)["relaxscope_pipeline"]
    assert len(view["verdicts"]) == 13


def test_the_values_before_and_after_a_stage_are_listed() -> None:
    view, _ = sent_to(opened("passes", FIRST.changed(stage=4, view="values")))["relaxscope_diff"]
    assert {row["verdict"] for row in view["values"]} == {"same"}
    assert "values compared and the same" in view["values_note"]
    view, _ = sent_to(opened("passes", FIRST.changed(stage=0, view="values")))["relaxscope_diff"]
    assert view["values"] == []


LOCAL = (
    '@I.ir_module\nclass Module:\n    @R.function\n    def main(x: R.Tensor((2,), "float32")):\n        @R.function\n'
    '        def inner(y: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):\n            return y\n'
    "        return inner(x)\n"
)
MISSING = (
    '@I.ir_module\nclass Module:\n    @R.function(pure=False)\n    def main(x: R.Tensor((2,), "float32")):\n'
    '        return R.call_packed("no.such", x, sinfo_args=R.Tensor((2,), "float32"))\n'
)


def test_the_page_opens_at_the_pass_that_failed_and_says_why() -> None:
    failing = screen(text=LOCAL, pipeline="Normalize, VMShapeLower, LambdaLift", results=1)
    app = opened("passes", failing)
    view, _ = sent_to(app)["relaxscope_diff"]
    assert view["stage"] == 2
    assert [(item["code"], item["line"]) for item in view["problems"]] == [("PS003", 6)]
    assert any("not comparable, 1 of 2 stages compared" in text for text in chips(app))
    assert not any("green" in text for text in chips(app))
    view, _ = sent_to(opened("passes", failing.changed(stage=2, view="values")))["relaxscope_diff"]
    assert view["values"] == []
    assert "not comparable, because PS003" in view["values_note"]


def test_stages_that_cannot_run_are_not_comparable_on_the_page() -> None:
    app = opened("passes", screen(text=MISSING, results=1))
    view, _ = sent_to(app)["relaxscope_pipeline"]
    assert {item[1] for item in view["verdicts"]} == {"not comparable"}
    assert "VM001" in view["conclusion"]
    assert any("not comparable, 0 of 12 stages compared" in text for text in chips(app))


def test_a_pipeline_that_cannot_be_read_can_be_mended() -> None:
    app = opened("passes", FIRST.changed(pipeline="Normalize, NoSuch(x=1"))
    assert "1 problem in the pipeline" in app.error[0].value
    assert any("1  Normalize, NoSuch(x=1" in item.value for item in app.code)
    assert not [item for item in app.button if "Go to line" in item.label]
    assert app.text_area[0].value == "Normalize, NoSuch(x=1"
    app.button(key="failure.pipeline").click().run()
    assert not app.exception
    assert not app.error
    assert sent_to(app)["relaxscope_pipeline"][1]["stages"]


def test_sizes_of_inputs_are_chosen() -> None:
    assert sizes_of("n=4, m = 7,k=x,=3,") == (("n", 4), ("m", 7))
    first = screen(sample="seeds/my_ir_module_corrected.py")
    app = opened("run", first)
    assert [item.value for item in app.number_input] == [0, 2, 3, 4]
    app.number_input[1].set_value(5).run()
    assert not app.exception
    _, run = sent_to(app)["relaxscope_stepper"]
    assert any(value["type"] == "(5, 3) f32" for value in run["values"])
    assert app.query_params["dims"] == "m=5,n=3,k=4"


@pytest.mark.parametrize("page", ["passes", "run"])
def test_sizes_that_are_too_large_are_a_diagnostic(page: str) -> None:
    chosen = screen(sample="seeds/my_ir_module_corrected.py", dims="m=100000,n=100000", results=1)
    app = opened(page, chosen)
    said = [*(item.value for item in (*app.error, *app.markdown)), *(button.label for button in app.button)]
    assert any("EN003" in text or "1 problem" in text for text in said)


def _archive() -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, in_0=np.full((2, 3), 2, np.float32), in_1=np.full((3, 4), 3, np.float32))
    return buffer.getvalue()


def test_inputs_are_those_of_a_file_until_another_sample_is_opened() -> None:
    chosen = screen(sample="seeds/my_ir_module_corrected.py")
    app = opened("run", chosen)
    app.session_state["inputs"] = {(chosen.of(ProgramState).sample, ""): _archive()}
    app.run()
    assert not app.exception
    _, run = sent_to(app)["relaxscope_stepper"]
    assert any(value["short"].startswith("[[18.00 18.00") for value in run["values"])
    app.selectbox(key="bar.sample").select("relax/fib.py").run()
    assert not app.exception
    assert not app.error


@pytest.mark.browser
def test_results_values_and_profile_are_looked_at(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/passes?sample=relax/loop.py")
    page.get_by_role("button", name="Check results").click()
    expect(page.get_by_role("img", name="Result: same").first).to_be_visible()
    expect(page.locator(".conclusion")).to_have_text("main computes the same after all 13 stages: 1 result compared")
    page.get_by_role("button", name="Values", exact=True).click()
    expect(page.get_by_role("table", name="Values")).to_be_visible()
    assert_accessible(page, 1440)
    page.goto(f"{app_url}/run?sample=relax/loop.py")
    page.get_by_role("button", name="Profile").click()
    expect(page.get_by_role("dialog").get_by_text(re.compile("median of"))).to_be_visible()


@pytest.mark.browser
def test_a_frame_of_many_registers_is_shown_in_part(page: Page, app_url: str) -> None:
    lines = "".join(f"        x{at + 1} = R.add(x{at}, x{at})\n" for at in range(300))
    head = '@I.ir_module\nclass Module:\n    @R.function\n    def main(x0: R.Tensor((2,), "float32")):\n'
    text = f"{head}{lines}        return x300\n"
    address = "&".join(f"{name}={value}" for name, value in to_address(FIRST.changed(text=text, time=900)).items())
    page.goto(f"{app_url}/run?{address}")
    stepper = page.locator(".root[data-at]").first
    expect(stepper).to_have_attribute("data-at", "900")
    registers = stepper.get_by_role("table", name="Registers, newest frame first")
    heads = registers.locator("tr.group")
    expect(heads).to_have_text([re.compile("^this step"), "changed", re.compile("^▸ [0-9]+ not written yet")])
    expect(registers.locator("[data-register]")).to_have_count(33)
    rest = heads.get_by_role("button")
    rest.click()
    expect(rest).to_have_attribute("aria-expanded", "true")
    expect(stepper.get_by_text(re.compile("registers before, not shown"))).to_be_visible()
    expect(registers.locator("[data-register]")).to_have_count(63)
    stepper.get_by_role("button", name="Show more").first.click()
    expect(registers.locator("[data-register]")).to_have_count(263)
    rest.press("Enter")
    expect(rest).to_have_attribute("aria-expanded", "false")
    page.keyboard.press("b")
    expect(stepper).not_to_have_attribute("data-at", "900")
