"""Inside a kernel on the Run page: in and out, steps, iterations, and counts that agree with the indices."""

import re

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser import OpenPage, rest
from tests.views.pages import assert_accessible, assert_fits

pytestmark = pytest.mark.browser

# The only call of a kernel in each of these runs, with the sizes that are made up.
MATMUL = "run?sample=tir/matmul.py&time=10&inside=10"
RACE = "run?sample=gpu/race.py&time=0&inside=0"


def inside_of(page: Page) -> Locator:
    return page.locator(".root[data-clock]")


def entered(page: Page, url: str) -> Locator:
    """Go into the first kernel that the run calls."""
    page.goto(url)
    expect(page.locator(".root[data-at]")).to_be_visible()
    rest(page)
    page.keyboard.press("n")
    page.keyboard.press("i")
    found = inside_of(page)
    expect(found).to_be_visible()
    return found


def counts(inside: Locator, buffer: str, shape: tuple[int, int]) -> "np.ndarray[tuple[int, ...], np.dtype[np.int64]]":
    """Return the counts that the picture of a buffer shows."""
    canvas = inside.locator(f"canvas[data-buffer={buffer}]")
    texts = (canvas.get_attribute("data-cells") or "").split(" ")
    return np.array([int(text or 0) for text in texts], np.int64).reshape(shape)


def fill_iteration(inside: Locator, **values: int) -> None:
    for name, value in values.items():
        inside.get_by_label(f"Iteration of {name}", exact=True).fill(str(value))
    inside.get_by_label("Go to the iteration").click()


def test_a_matmul_is_entered_stepped_and_left(page: Page, app_url: str) -> None:
    inside = entered(page, f"{app_url}/run?sample=tir/matmul.py")
    expect(inside).to_have_attribute("data-clock", "0")
    expect(inside).to_have_attribute("data-phase", "init")
    for _ in range(3):
        page.keyboard.press("n")
    expect(inside).to_have_attribute("data-clock", "3")
    expect(inside).to_have_attribute("data-phase", "update")
    # Steps are counted in the browser: the picture is that of this statement at once.
    a = np.array([[1, 1, 0], [0, 0, 0]])
    assert (counts(inside, "A", (2, 3)) == a).all()
    page.keyboard.press("b")
    expect(inside).to_have_attribute("data-clock", "2")
    a[0, 1] = 0
    assert (counts(inside, "A", (2, 3)) == a).all()
    expect(page).to_have_url(re.compile(r"clock=2"))
    page.keyboard.press("o")
    expect(page.locator(".root[data-at]")).to_have_attribute("data-at", "10")


def test_an_iteration_of_a_matmul_has_the_counts_of_its_indices(page: Page, app_url: str) -> None:
    inside = entered(page, f"{app_url}/run?sample=tir/matmul.py")
    fill_iteration(inside, i0=1, j0=2, r0=1)
    # Two rows of 4 cells with 3 products each: an initialisation for each cell.
    rows, columns, depth = 2, 4, 3
    clock = (1 * columns + 2) * (depth + 1) + 1 + 1
    expect(inside).to_have_attribute("data-clock", str(clock))
    expect(inside.locator(".far[data-loop=j0]")).to_have_text("3 of 4")
    expected = {
        "A": np.zeros((rows, depth), int),
        "B": np.zeros((depth, columns), int),
        "C": np.zeros((rows, columns), int),
    }
    order = [(i, j, r) for i in range(rows) for j in range(columns) for r in range(-1, depth)]
    for i, j, r in order[:clock]:
        expected["C"][i, j] += 1 if r < 0 else 2
        if r >= 0:
            expected["A"][i, r] += 1
            expected["B"][r, j] += 1
    for name, wanted in expected.items():
        assert (counts(inside, name, wanted.shape) == wanted).all(), name
    expect(inside.locator(".ln.cur .reads")).to_have_count(3)
    expect(inside.locator(".ln.cur .writes")).to_have_text("C[i, j]")
    # The first cell of C: its last store is two rows of three products before.
    inside.locator("canvas[data-buffer=C]").click(position={"x": 36, "y": 25})
    expect(inside.get_by_label("Write of", exact=True)).to_have_value("C[0, 0]")
    inside.get_by_label("Back to the write").click()
    expect(inside).to_have_attribute("data-clock", "3")


def test_a_softmax_is_searched_and_reported(page: Page, app_url: str) -> None:
    inside = entered(page, f"{app_url}/run?sample=tir/row_softmax.py")
    inside.get_by_label("Condition", exact=True).fill("i0 == 1 and total[i] > 0")
    inside.get_by_label("On to the condition").click()
    expect(inside.locator(".ln.cur")).to_contain_text("total[i]")
    expect(inside.locator(".phase.on")).to_have_text(re.compile("update"))
    # The exponentials of the second row: its first is added, its largest and all of the first row were read before.
    x = counts(inside, "X", (2, 3))
    assert x.tolist() == [[3, 2, 2], [3, 1, 1]]
    inside.get_by_role("button", name="whole run").click()
    expect(inside.get_by_role("button", name="whole run")).to_have_attribute("aria-pressed", "true")
    assert counts(inside, "X", (2, 3)).tolist() == [[4, 3, 3], [4, 3, 3]]
    expect(inside.locator(".report tbody tr").first).to_contain_text("X, init")
    expect(inside.locator(".report-box")).to_contain_text(re.compile("of the peak, bound by .* Measured here: .* GB/s"))
    inside.get_by_label("Condition", exact=True).fill("nothing > 0")
    inside.get_by_label("On to the condition").click()
    expect(inside.locator(".now")).to_contain_text("knows `nothing`")


def test_a_kernel_that_fails_shows_the_cell_beside_the_buffer(page: Page, app_url: str) -> None:
    inside = entered(page, f"{app_url}/run?sample=errors/jt_out_of_range.py")
    inside.get_by_role("button", name="End", exact=True).click()
    expect(inside.locator(".outside")).to_contain_text("X[2] is out of range")
    expect(inside.locator(".now")).to_contain_text("JT010")


@pytest.mark.parametrize("width", [1280, 760])
@pytest.mark.parametrize("address", [f"{MATMUL}&clock=9&loop=1&spell=iteration", f"{RACE}&clock=9&heat=owner"])
def test_inside_is_accessible_and_fits(open_page: OpenPage, app_url: str, address: str, width: int) -> None:
    page = open_page(width, 900)
    page.goto(f"{app_url}/{address}")
    expect(inside_of(page)).to_have_attribute("data-clock", "9")
    rest(page)
    assert_accessible(page, width)
    page.emulate_media(color_scheme="dark")
    expect(page.locator(".stApp")).to_have_css("color-scheme", "dark")
    assert_accessible(page, width, "dark")
    if width > 1000:
        assert_fits(page, has_panes=True)


def test_a_race_between_warps_is_entered_found_and_looked_at(page: Page, app_url: str) -> None:
    inside = entered(page, f"{app_url}/run?sample=gpu/race.py")
    expect(inside.locator(".warps")).to_have_attribute("aria-label", re.compile("Threads 0-31 run line 12; 32-63 are"))
    page.keyboard.press("n")
    page.keyboard.press("w")
    expect(inside.locator(".group").first).to_contain_text("0-31 wait at the barrier in line 15")
    expect(inside.locator(".lane.r")).to_have_count(32 + 1)
    # The second warp reads what the first one is ahead to write over.
    inside.get_by_role("button", name="Race").click()
    expect(inside.locator(".now")).to_contain_text("GP001")
    expect(inside.locator(".now")).to_contain_text("read after write")
    clock = inside.get_attribute("data-clock")
    inside.get_by_role("button", name="who wrote it").click()
    expect(inside.get_by_role("button", name="who wrote it")).to_have_attribute("aria-pressed", "true")
    # Who wrote what is asked of the worker, so that it is drawn a moment after the button was pressed.
    owners = " ".join(map(str, range(32)))
    expect(inside.locator("canvas[data-buffer=tile]")).to_have_attribute("data-cells", owners)
    inside.get_by_label("Thread", exact=True).fill("45")
    inside.get_by_label("Thread", exact=True).press("Tab")
    expect(inside.locator(".lane.chosen")).to_have_attribute("title", "thread 45")
    expect(inside).to_have_attribute("data-clock", clock or "")
    page.keyboard.press("t")
    expect(inside.locator(".lane.shown")).to_have_attribute("title", "thread 45")
    inside.get_by_label("Order of warps").select_option("turns")
    expect(inside).to_have_attribute("data-clock", "0")
    inside.get_by_role("button", name="Race").click()
    # In turns the second warp reads first: now it is the write that meets it.
    expect(inside.locator(".now")).to_contain_text("GP001")


def test_counts_of_one_line_alone(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/{MATMUL}&clock=9")
    inside = inside_of(page)
    expect(inside).to_have_attribute("data-clock", "9")
    # Two cells of four statements each are done, and the third one is begun: the initialisation alone.
    inside.locator(".ln", has_text="= T.float32(0").locator(".t").click()
    inside.get_by_role("group", name="Of which line").get_by_role("button", name=re.compile("line \\d")).click()
    expect(page).to_have_url(re.compile("line=\\d"))
    expect(inside.locator("canvas[data-buffer=C]")).to_have_attribute("data-cells", "1 1 1     ")
    page.keyboard.press("n")
    assert counts(inside, "C", (2, 4)).tolist() == [[1, 1, 1, 0], [0, 0, 0, 0]]
    assert not counts(inside, "A", (2, 3)).any()


def test_an_expression_is_watched_from_statement_to_statement(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/{MATMUL}&clock=9")
    inside = inside_of(page)
    expect(inside).to_have_attribute("data-clock", "9")
    for text in ("i * 10 + r", "j"):
        inside.get_by_label("Expression to watch").fill(text)
        inside.get_by_label("Watch the expression").click()
        expect(inside.locator(f"[data-watch='{text}']")).to_be_visible()
    shown = [inside.locator(f"[data-watch='{text}']") for text in ("i * 10 + r", "j")]
    for clock, values in ((9, ("0", "2")), (10, ("1", "2")), (11, ("2", "2")), (12, ("0", "3"))):
        expect(inside).to_have_attribute("data-clock", str(clock))
        for cell, value in zip(shown, values, strict=True):
            expect(cell).to_have_text(value)
        page.keyboard.press("n")
    inside.get_by_label("Watch j no longer").click()
    expect(shown[1]).to_have_count(0)
    inside.get_by_label("Expression to watch").fill("nothing + 1")
    inside.get_by_label("Watch the expression").click()
    expect(inside.locator(".now")).to_contain_text("knows `nothing`")


def test_a_launch_has_its_report_and_what_bounds_it_on_a_machine(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/run?sample=gpu/transpose.py&time=0&inside=0")
    inside = inside_of(page)
    rows = inside.locator(".report tbody tr")
    expect(rows).to_have_text([
        "A131,024–1,0244.1 kB4 sectors, 100 % used", "tile shared13–1,0241,0244.1 kBno conflict",
        "tile shared161,024–1,024131.1 kB32-way bank conflict", "B16–1,0241,0244.1 kB4 sectors, 100 % used",
    ])  # fmt: skip
    expect(inside.locator(".bound:has(.longest)")).to_contain_text("shared memory")
    inside.get_by_label("Machine", exact=True).fill("global=1e3")
    inside.get_by_label("Machine", exact=True).press("Tab")
    expect(inside.locator(".bound:has(.longest)")).to_contain_text("global memory8,190 ms")
    inside.get_by_label("Machine", exact=True).fill("clock=3")
    inside.get_by_label("Machine", exact=True).press("Tab")
    expect(inside.locator(".now")).to_contain_text("`clock=3` is no number of a machine")
    expect(inside.locator(".bound:has(.longest)")).to_contain_text("shared memory")


def test_another_block_is_one_click_away(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/run?sample=gpu/tiled_matmul.py&time=0&inside=0&clock=5")
    inside = inside_of(page)
    expect(inside).to_have_attribute("data-clock", "5")
    expect(inside.get_by_label("Block before")).to_be_disabled()
    inside.get_by_label("Next block").click()
    # The same statement of the next block, which reads other columns.
    expect(inside.get_by_label("Block", exact=True)).to_have_value("1")
    expect(inside).to_have_attribute("data-clock", "5")
    expect(inside.locator("tr", has_text="bx").locator("td").last).to_have_text("1")
