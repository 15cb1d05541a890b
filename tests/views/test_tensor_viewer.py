"""The tensor viewer of the Run page: opened from a register, sliced, searched, compared, copied and downloaded."""

import io
import re
from urllib.parse import urlencode

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from relax_core.engine.components.stepper import TensorAsked
from relax_core.engine.programs.program import ChangeAt
from tests.browser import Mode, OpenPage, rest
from tests.views.pages import assert_accessible, opened, sent_to
from views.pages.run.tensor import read, written
from views.state.address import to_address
from views.state.selection import screen

CLICK_AT_THE_END = """map => {
  const { right, bottom } = map.getBoundingClientRect();
  map.dispatchEvent(new MouseEvent("click", { bubbles: true, clientX: right - 1, clientY: bottom - 1 }));
}"""
SLICED = "prim/packed_softmax_axes.py"
LARGE = """
@R.function
def main(x: R.Tensor((1,), "int8")):
    y = R.broadcast_to(x, (10000, 10000))
    return y
"""
ROOTS = """
@R.function
def main(x: R.Tensor((200, 300), "float32")):
    y = R.sqrt(R.subtract(x, R.const(0.5, "float32")))
    return y
"""


@pytest.mark.parametrize(
    "asked",
    [
        TensorAsked("%3", 1),
        TensorAsked("t[0; 1]", 0, (2, 0), (0, 5, 0), 12, 24, "7", "ulp", "-1e-3;"),
        TensorAsked("x", 0, other="numpy"),
    ],
)
def test_an_address_holds_what_is_seen(asked: TensorAsked) -> None:
    assert read(written(asked)) == asked


@pytest.mark.parametrize(
    "text", ["", "x", "0;;;0,0;-1;value;;", "a;;;0,0;-1;value;;x", "0;;;0;-1;value;;x", "0;;;0,0;1;no;;x"]
)
def test_an_address_that_names_no_tensor_shows_none(text: str) -> None:
    assert read(text) is None


def test_a_fork_is_compared_with_the_run_and_the_run_with_its_forks() -> None:
    app = opened("run", screen(sample="relax/loop.py", time=9, tab="tensor", tensor="1;;;0,0;run;absolute;;x"))
    app.session_state["run.change"] = ChangeAt(9, "x = zeros()", 1)
    app.run()
    shown = sent_to(app)["relaxscope_stepper"][0]["tensor"]
    names = [name for _, name in shown["choices"]]
    assert names == [
        "the run",
        "the run with bitwise kernels",
        "the run with fast kernels",
        "NumPy",
        "apache-tvm (not installed)",
    ]
    assert (shown["view"]["difference"]["name"], shown["view"]["difference"]["words"]) == (
        "the run",
        "4 of 4 elements differ",
    )
    tree = app.radio(key="run.fork.shown")
    tree.set_value(tree.options[0]).run()
    assert ["fork0", "Fork 1: x = zeros()"] in sent_to(app)["relaxscope_stepper"][0]["tensor"]["choices"]


@pytest.mark.browser
def test_a_register_is_seen_in_two_clicks_and_compared(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/run?sample=relax/inplace_update.py&time=9")
    page.locator("table.registers tr[data-kind^=tensor]").filter(has_text="y").first.click()
    page.get_by_role("button", name="View", exact=True).click()
    viewer = page.get_by_role("region", name="Tensor", exact=True)
    expect(viewer).to_contain_text("(2, 3) float32")
    cells = viewer.get_by_role("table", name="Elements").locator("td.tc")
    expect(cells).to_have_count(6)
    other = viewer.get_by_label("Compare with", exact=True)
    other.select_option("numpy")
    expect(viewer).to_contain_text("6 of 6 elements differ")
    other.select_option("tvm")
    expect(viewer).to_contain_text("Not comparable: apache-tvm is not installed")
    other.select_option("time")
    viewer.get_by_label("Compare with time").fill("7")
    viewer.get_by_label("Compare with time").press("Enter")
    expect(viewer).to_contain_text("6 of 6 elements differ")
    viewer.get_by_role("button", name="Absolute").click()
    expect(cells).to_have_text(["1.00"] * 6)
    viewer.get_by_label("Search for a value").fill("nan")
    viewer.get_by_label("Search for a value").press("Enter")
    expect(viewer.get_by_role("status")).to_have_text("no element is nan")
    assert_accessible(page, 1440)
    page.reload()
    expect(cells).to_have_text(["1.00"] * 6)


@pytest.mark.browser
@pytest.mark.parametrize(("mode", "width"), [("light", 1440), ("dark", 760)])
def test_slices_and_windows_move(open_page: OpenPage, app_url: str, mode: Mode, width: int) -> None:
    page = open_page(width, 900, mode)
    tensor = "0;;;0,0;-1;value;;x"
    page.goto(f"{app_url}/run?sample={SLICED}&time=1&tab=tensor&tensor={tensor}")
    viewer = page.get_by_role("region", name="Tensor", exact=True)
    copy = viewer.get_by_role("button", name="Copy as NumPy")
    before = copy.get_attribute("data-numpy")
    viewer.get_by_label("Index in axis 0").fill("1")
    viewer.get_by_label("Index in axis 0").press("Enter")
    expect(copy).not_to_have_attribute("data-numpy", before or "")
    viewer.get_by_label("Axis of the rows").select_option("0")
    expect(viewer.get_by_label("Index in axis 0")).to_have_count(0)
    assert_accessible(page, width)


@pytest.mark.browser
def test_what_is_odd_in_a_tensor_is_told_and_every_element_is_reached(page: Page, app_url: str) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=app_url)
    shown = screen(text=ROOTS, time=10, tab="tensor", tensor="0;;;0,0;numpy;ulp;;y")
    page.goto(f"{app_url}/run?{urlencode(to_address(shown))}")
    viewer = page.get_by_role("region", name="Tensor", exact=True)
    expect(viewer.get_by_role("img", name=re.compile("^The whole plane: .*NaN"))).to_be_visible()
    expect(viewer.locator(".tensor-bins")).to_be_visible()
    statistics = viewer.get_by_role("table", name="Statistics")
    expect(statistics).to_contain_text("NaN")
    expect(viewer.get_by_role("button", name="ULP")).to_have_attribute("aria-pressed", "true")
    viewer.get_by_role("button", name="Relative").click()
    expect(page).to_have_url(re.compile("relative"))
    table = viewer.get_by_role("table", name="Elements")
    viewer.get_by_role("button", name="Rows below").click()
    expect(table.locator("tr").nth(1).locator("th")).not_to_have_text("0")
    viewer.get_by_role("img", name=re.compile("^The whole plane")).evaluate(CLICK_AT_THE_END)
    expect(viewer).to_contain_text(re.compile(r"rows \d+–199 of 200, columns \d+–299 of 300"))
    expect(table.locator("td[style*=background]").first).to_be_visible()
    viewer.get_by_role("button", name="Copy as NumPy").click()
    assert page.evaluate("navigator.clipboard.readText()").startswith("np.array(")


@pytest.mark.browser
def test_of_a_hundred_million_elements_the_page_gets_a_sample_that_it_tells_of(page: Page, app_url: str) -> None:
    sizes: list[int] = []

    def note(content: bytes | str) -> None:
        sizes.append(len(content))

    page.on("websocket", lambda socket: socket.on("framereceived", note))
    shown = screen(text=LARGE, time=6, tab="tensor", tensor="0;;;0,0;-1;value;;y")
    page.goto(f"{app_url}/run?{urlencode(to_address(shown))}")
    viewer = page.get_by_role("region", name="Tensor", exact=True)
    expect(viewer).to_contain_text("(10000, 10000) int8")
    expect(viewer).to_contain_text("Statistics look at one in 12 of the 100,000,000 elements")
    expect(viewer).to_contain_text("The map shows one in 3 rows and columns")
    rest(page)
    assert 0 < sum(sizes) < 2_000_000


@pytest.mark.browser
def test_the_file_is_the_whole_tensor(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/run?sample=relax/inplace_update.py&time=9&tab=tensor&tensor=0;;;0,0;-1;value;;y")
    page.get_by_role("button", name="Files").click()
    page.get_by_role("button", name="Write y as .npy").click()
    with page.expect_download() as got:
        page.get_by_role("button", name=re.compile("Download .npy")).click()
    assert np.load(io.BytesIO(got.value.path().read_bytes())).shape == (2, 3)
