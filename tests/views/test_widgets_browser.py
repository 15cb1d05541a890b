"""The components in headless Chromium: stepping, selecting, editing, comparing, hostile names."""

import re
from collections.abc import Iterator
from types import MappingProxyType

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.app_server import serve_script
from tests.browser import Editor, Mode, wait_for

pytestmark = pytest.mark.browser

# Components of a page of the harness, where there is more than one: a component that comes later may move the others.
COMPONENT_COUNTS = MappingProxyType({"source": 3, "passes": 4})


@pytest.fixture(scope="module")
def harness_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve the harness page."""
    home = tmp_path_factory.mktemp("harness")
    with serve_script(home, "import runpy\nrunpy.run_module('tests.views.harness_app')\n") as url:
        yield url


def show(page: Page, url: str, what: str, name: str) -> Locator:
    """Open a page of the harness; give the root of the component that holds `name` when all of them are there."""
    page.goto(f"{url}/?show={what}")
    expect(page.locator(".root[data-rev]")).to_have_count(COMPONENT_COUNTS.get(what, 1))
    root = page.locator(".root[data-rev]").filter(has=page.locator(name))
    expect(root).to_be_visible()
    return root


def told(page: Page, text: str) -> None:
    """Wait until Python has heard of it."""
    expect(page.get_by_text(text, exact=False).first).to_be_visible()


def test_stepping_goes_forwards_and_backwards_without_the_server(page: Page, harness_url: str) -> None:
    root = show(page, harness_url, "run", ".strip")
    page.keyboard.press("i")
    page.keyboard.press("i")
    page.keyboard.press("i")
    page.keyboard.press("i")
    expect(root).to_have_attribute("data-at", "4")
    expect(root).to_have_attribute("data-depth", "2")
    expect(root.locator(".listing.source .ln.cur .g")).to_have_text("▶12")
    expect(root.locator("tr[data-register='1.0']")).to_contain_text("new")
    page.keyboard.press("b")
    page.keyboard.press("b")
    expect(root).to_have_attribute("data-at", "2")
    expect(root.locator("tr[data-register='0.1']")).to_have_attribute("data-kind", "closure")
    page.keyboard.press("b")
    expect(root.locator("tr[data-register='0.1']")).to_contain_text("not yet written")
    told(page, "stepper state at 1")


def test_a_call_of_the_flame_chart_is_taken_over_the_width(page: Page, harness_url: str) -> None:
    root = show(page, harness_url, "run", ".strip")
    calls = root.get_by_role("listbox", name="Calls")
    whole = calls.get_by_role("option").first
    inner = calls.locator("[data-call='1']")
    wide, narrow = (item.locator("rect").bounding_box() for item in (whole, inner))
    assert wide is not None
    assert narrow is not None
    assert narrow["width"] < wide["width"]
    inner.click()
    expect(root.locator(".crumbs")).to_contain_text("Whole run")
    zoomed = inner.locator("rect").bounding_box()
    assert zoomed is not None
    assert zoomed["width"] == pytest.approx(wide["width"], abs=2)
    expect(root).to_have_attribute("data-at", "0")
    page.keyboard.press("Escape")
    expect(root.locator(".crumbs")).to_be_hidden()
    calls.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(inner).to_have_attribute("aria-selected", "true")
    root.locator(".crumbs").get_by_role("button", name="Whole run").click()
    expect(root.locator(".crumbs")).to_be_hidden()
    calls.hover()
    page.mouse.wheel(0, -400)
    expect(root.locator(".crumbs")).to_contain_text("Whole run")


def test_over_stays_in_the_frame_and_out_leaves_it(page: Page, harness_url: str) -> None:
    root = show(page, harness_url, "run", ".strip")
    for _ in range(3):
        page.keyboard.press("F11")
    page.keyboard.press("n")
    expect(root).to_have_attribute("data-at", "6")
    page.keyboard.press("b")
    expect(root).to_have_attribute("data-depth", "2")
    page.keyboard.press("Shift+F11")
    expect(root).to_have_attribute("data-at", "6")


def test_a_breakpoint_stops_continue_in_both_directions(page: Page, harness_url: str) -> None:
    root = show(page, harness_url, "run", ".strip")
    root.locator(".listing.source .g").nth(7).click()
    expect(root.locator("tr[data-point='line 8']")).to_contain_text("hit once, at time 3")
    page.keyboard.press("F8")
    expect(root).to_have_attribute("data-at", "3")
    told(page, "stepper state at 3 breakpoints 8")
    page.keyboard.press("F8")
    expect(root).to_have_attribute("data-at", "8")
    page.keyboard.press("[")
    expect(root).to_have_attribute("data-at", "3")
    root.get_by_role("button", name="line 8: switch off").click()
    page.keyboard.press("F8")
    expect(root).to_have_attribute("data-at", "8")


def test_a_condition_that_is_being_written_outlives_a_new_drawing(page: Page, harness_url: str) -> None:
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    root = show(page, harness_url, "run", ".strip")
    root.locator(".listing.source .g").nth(7).click(button="right")
    condition = root.get_by_label("Condition of line 8")
    condition.press_sequentially("x.sum() ")
    # What the page answers draws the component anew, as this step does: neither takes the focus away.
    root.locator("[data-step=into]").evaluate("button => button.click()")
    expect(root).to_have_attribute("data-at", "1")
    expect(condition).to_be_focused()
    page.keyboard.type("> 3")
    expect(condition).to_have_value("x.sum() > 3")
    expect(root.locator("tr[data-point]")).not_to_contain_text("looking")
    page.keyboard.press("Tab")
    expect(root.locator("tr[data-point]")).to_contain_text("looking")
    assert faults == []


def test_a_breakpoint_on_a_line_without_code_moves_to_the_next_one(page: Page, harness_url: str) -> None:
    root = show(page, harness_url, "run", ".strip")
    root.locator(".listing.source .g").nth(4).click()
    expect(root.locator("tr[data-point='line 6']")).to_be_visible()


def test_the_slider_answers_to_arrows_and_says_its_time(page: Page, harness_url: str) -> None:
    root = show(page, harness_url, "run", ".strip")
    slider = root.get_by_role("slider", name="Time")
    slider.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    expect(root).to_have_attribute("data-at", "1")
    expect(slider).to_have_attribute("aria-valuetext", "time 1 of 8")
    page.keyboard.press("End")
    expect(root.locator(".now")).to_contain_text("returned")


def test_a_closure_row_shows_function_and_captures(page: Page, harness_url: str) -> None:
    root = show(page, harness_url, "run", ".strip")
    page.keyboard.press("i")
    page.keyboard.press("i")
    expect(root.locator(".opened")).to_contain_text("@lifted_func_0")
    expect(root.locator(".opened")).to_contain_text("x1 = main %0")
    root.locator("tr[data-register='0.1']").click()
    expect(root.locator(".ph", has_text="%1 closure")).to_be_visible()


def test_an_error_is_told_at_the_end(page: Page, harness_url: str) -> None:
    root = show(page, harness_url, "run&broken=1", ".strip")
    root.get_by_role("button", name="End").click()
    expect(root.locator(".now.error")).to_contain_text("k = 3, but A has 3 columns")


def test_a_deep_recursion_steps_and_asks_for_the_next_window(page: Page, harness_url: str) -> None:
    root = show(page, harness_url, "deep", ".strip")
    for _ in range(10):
        page.keyboard.press("i")
    expect(root).to_have_attribute("data-at", "10")
    expect(root.locator("table[aria-label^='Call stack'] tr")).to_have_count(11)
    page.keyboard.press("o")
    expect(root).to_have_attribute("data-at", re.compile("49.."))
    expect(root).to_have_attribute("data-depth", "10")
    page.keyboard.press("b")
    page.keyboard.press("b")
    expect(root).to_have_attribute("data-depth", "12")


def test_keys_typed_into_a_field_do_not_step(page: Page, harness_url: str) -> None:
    root = show(page, harness_url, "run", ".strip")
    page.evaluate("document.body.insertAdjacentHTML('afterbegin', '<input id=probe>')")
    page.locator("#probe").press("i")
    expect(root).to_have_attribute("data-at", "0")


def test_a_node_selected_in_the_graph_is_marked_in_text_and_inspector(page: Page, harness_url: str) -> None:
    root = show(page, harness_url, "source", ".canvas")
    root.locator("g.node[data-id=g1]").click()
    expect(root).to_have_attribute("data-selected", "n1")
    editor = page.locator(".root[data-rev]").filter(has=page.locator(".cm-content"))
    expect(editor.locator(".cm-line.sel")).to_contain_text("gv0 = R.call_tir")
    expect(page.locator(".root[data-title='n1']")).to_be_visible()
    page.locator(".root[data-title='n1']").get_by_role("button", name="custom_print").click()
    expect(root).to_have_attribute("data-selected", "n2")


def test_the_graph_obeys_the_keyboard(page: Page, harness_url: str) -> None:
    root = show(page, harness_url, "source", ".canvas")
    root.locator(".canvas").focus()
    page.keyboard.press("n")
    expect(root).to_have_attribute("data-selected", "n0")
    page.keyboard.press("p")
    expect(root).to_have_attribute("data-selected", "n3")
    zoomed = root.locator(".gtools span")
    fitted = zoomed.inner_text()
    page.keyboard.press("+")
    expect(zoomed).not_to_have_text(fitted)
    page.keyboard.press("Space")
    expect(zoomed).to_have_text(fitted)
    page.keyboard.press("/")
    page.keyboard.type("matmul")
    expect(root.locator("g.node.lit")).to_have_count(1)
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    expect(root).to_have_attribute("data-selected", "")


def test_the_wheel_zooms_and_dragging_pans(page: Page, harness_url: str) -> None:
    root = show(page, harness_url, "source", ".canvas")
    view = root.locator("g.view")
    start = view.get_attribute("transform")
    root.locator(".canvas").hover(position={"x": 50, "y": 100})
    page.mouse.wheel(0, -200)
    expect(view).not_to_have_attribute("transform", start or "")
    zoomed = view.get_attribute("transform")
    page.mouse.down()
    page.mouse.move(300, 300)
    page.mouse.up()
    expect(view).not_to_have_attribute("transform", zoomed or "")
    expect(root).to_have_attribute("data-selected", "")


def test_the_picture_can_be_saved_with_its_colours(page: Page, harness_url: str) -> None:
    root = show(page, harness_url, "source", ".canvas")
    root.get_by_role("button", name="Export").click()
    with page.expect_download() as download:
        root.get_by_role("button", name="SVG file").click()
    text = download.value.path().read_text(encoding="utf-8")
    assert "#bcc5cf" in text
    assert "var(--" not in text
    assert "<script" not in text


def test_typing_reaches_python_and_keeps_the_caret(page: Page, harness_url: str) -> None:
    root = show(page, harness_url, "source", ".cm-content")
    editor = Editor(root)
    editor.area.click(position={"x": 300, "y": 60})
    page.keyboard.press("Control+Home")
    page.keyboard.type("# note\n")
    expect(root.locator(".cm-line").first).to_have_text("# note")
    told(page, "editor text")
    expect(root).to_have_attribute("data-problems", "1")
    page.keyboard.type("x")
    assert (editor.text()[:8], editor.caret()) == ("# note\nx", 8)
    for _ in range(10):
        page.keyboard.press("Control+z")
    expect(root).to_have_attribute("data-problems", "3")


def test_control_enter_submits_and_tab_leaves(page: Page, harness_url: str) -> None:
    root = show(page, harness_url, "source", ".cm-content")
    Editor(root).area.focus()
    page.keyboard.press("Control+Enter")
    told(page, "editor submit")
    page.keyboard.press("Tab")
    expect(Editor(root).area).not_to_be_focused()


def test_a_problem_leads_to_its_line_and_explains_itself(page: Page, harness_url: str) -> None:
    root = show(page, harness_url, "source", ".cm-content")
    expect(root.locator(".sq-warning")).to_have_count(2)
    root.locator("tr[data-problem='1']").click()
    assert Editor(root).caret_line() == 20
    root.get_by_role("button", name="JT001").first.click()
    expect(root.locator(".why")).to_contain_text("proven from the shapes")
    root.get_by_role("button", name="line 11").first.click()
    assert Editor(root).caret_line() == 11


def test_a_click_in_the_text_selects_the_smallest_node(page: Page, harness_url: str) -> None:
    root = show(page, harness_url, "source", ".cm-content")
    call = root.locator(".cm-line", has_text="gv0 = R.call_tir").bounding_box()
    assert call is not None
    page.mouse.click(call["x"] + 6.92 * 44, call["y"] + 9)
    expect(root).to_have_attribute("data-selected", "n6")
    page.mouse.click(call["x"] + 6.92 * 14, call["y"] + 9)
    expect(root).to_have_attribute("data-selected", "n1")


def test_the_editor_completes_operators_and_names_with_what_they_mean(page: Page, harness_url: str) -> None:
    root = show(page, harness_url, "source", ".cm-content")
    editor = Editor(root)
    editor.caret_to("        gv1 = ")
    page.keyboard.type("R.nn.softm")
    options = root.locator(".cm-tooltip-autocomplete [role=option]")
    expect(options.first).to_have_text("nn.softmax")
    expect(root.locator(".cm-completionInfo")).to_contain_text("R.nn.softmax(data: tensor, axis: int64 = -1)")
    # A key counts only when the list was there for a moment, a click at once.
    options.first.click()
    page.keyboard.type("(gv")
    expect(options.filter(has_text="gv0")).to_contain_text("(m, k) f32")
    options.filter(has_text="gv0").click()
    page.keyboard.type(", ax")
    expect(options.first).to_contain_text("axis=")
    page.keyboard.press("Escape")
    assert "gv1 = R.nn.softmax(gv0, ax" in editor.text()


def test_the_editor_shows_the_signature_of_the_call_that_is_written(page: Page, harness_url: str) -> None:
    root = show(page, harness_url, "source", ".cm-content")
    editor = Editor(root)
    editor.caret_to("        gv1 = ")
    page.keyboard.type("R.nn.softmax(")
    shown = root.locator(".cm-tooltip.signature")
    expect(shown).to_contain_text("R.nn.softmax(data: tensor, axis: int64 = -1)")
    expect(shown.locator(".active")).to_have_text("data: tensor")
    page.keyboard.type("gv0, ")
    expect(shown.locator(".active")).to_have_text("axis: int64 = -1")
    page.keyboard.press("Escape")
    expect(shown).to_have_count(0)
    page.keyboard.press("Control+Shift+Space")
    expect(shown.locator(".active")).to_have_text("axis: int64 = -1")
    page.keyboard.type("1)")
    expect(shown).to_have_count(0)


def test_the_editor_shows_types_and_leads_to_definitions(page: Page, harness_url: str) -> None:
    root = show(page, harness_url, "source", ".cm-content")
    editor = Editor(root)
    editor.caret_to('gv1 = R.call_packed("custom_add", gv')
    page.keyboard.press("F12")
    assert editor.caret_line() == 25
    line = root.locator(".cm-line", has_text="custom_print").bounding_box()
    assert line is not None
    page.mouse.move(line["x"] + 4 + 6.92 * 40, line["y"] + 9)
    expect(root.locator(".cm-tooltip-hover")).to_contain_text("gv0: (m, k) f32")
    page.keyboard.press("F2")
    name = root.get_by_label("New name of gv0")
    expect(name).to_be_focused()
    name.fill("1st")
    name.press("Enter")
    expect(root.get_by_text("This is no name.")).to_be_visible()
    name.fill("first")
    name.press("Enter")
    assert "gv0" not in editor.text()
    assert editor.text().count("first") > 1
    page.keyboard.press("Control+z")
    assert "first" not in editor.text()


def test_a_mend_that_is_known_is_one_click(page: Page, harness_url: str) -> None:
    root = show(page, harness_url, "source", ".cm-content")
    editor = Editor(root)
    editor.fill("wrng = 1\n")
    root.get_by_role("button", name="Replace with mended").click()
    editor.expect_text("mended = 1\n")
    told(page, "editor submit")
    editor.area.press("Control+z")
    editor.expect_text("wrng = 1\n")


def test_blocks_fold_and_words_are_found_and_replaced(page: Page, harness_url: str) -> None:
    root = show(page, harness_url, "source", ".cm-content")
    editor = Editor(root)
    root.get_by_title("Fold line", exact=True).first.click()
    expect(root.locator(".cm-foldPlaceholder")).to_have_count(1)
    expect(root.locator(".cm-line")).to_have_count(6)
    root.locator(".cm-foldPlaceholder").click()
    expect(root.locator(".cm-foldPlaceholder")).to_have_count(0)
    page.keyboard.press("Control+f")
    root.get_by_placeholder("Find").fill("gv0")
    root.get_by_placeholder("Replace").fill("first")
    root.get_by_role("button", name="replace all").click()
    assert "gv0" not in editor.text()
    editor.area.press("Control+z")
    expect(root).to_have_attribute("data-problems", "3")


def test_a_long_text_draws_only_the_lines_in_sight(page: Page, harness_url: str) -> None:
    root = show(page, harness_url, "source", ".cm-content")
    Editor(root).fill("x = 1\n" * 20_000)
    expect(root.locator(".cm-line").first).to_have_text("x = 1")
    assert root.locator(".cm-line").count() < 200
    root.locator(".cm-scroller").evaluate("box => { box.scrollTop = 40000 }")
    expect(
        root.locator(".cm-lineNumbers .cm-gutterElement", has_text=re.compile("^21[0-9][0-9]$")).first
    ).to_be_visible()


def test_a_diff_folds_and_its_gutter_selects(page: Page, harness_url: str) -> None:
    root = show(page, harness_url, "passes", ".sides")
    before = root.locator(".half").first
    expect(before.locator(".ln.removed")).to_have_count(1)
    expect(before.locator(".filler")).to_have_count(2)
    count = before.locator(".ln").count()
    before.locator(".fold").click()
    expect(before.locator(".ln")).to_have_count(count + 16)
    before.locator(".g[data-node=n2]").click()
    expect(root).to_have_attribute("data-selected", "n2")
    expect(root.locator(".ln.sel")).to_have_count(2)


def test_a_compare_graph_hides_marks_and_stays_put(page: Page, harness_url: str) -> None:
    root = show(page, harness_url, "passes", ".canvas")
    root.get_by_role("button", name="Before").click()
    expect(root.locator("g.node[data-id=g3]")).to_be_hidden()
    root.get_by_role("button", name="Both").click()
    expect(root.locator("g.node[data-id=g3]")).to_be_visible()
    place = root.locator("g.node[data-id=g1]").bounding_box()
    root.get_by_role("button", name="Before").click()
    expect(root.locator("g.node[data-id=g3]")).to_be_hidden()
    expect(root.locator("g.node[data-id=g2]")).to_be_visible()
    root.get_by_role("button", name="After").click()
    expect(root.locator("g.node[data-id=g2]")).to_be_hidden()
    assert root.locator("g.node[data-id=g1]").bounding_box() == place


def test_the_pipeline_hides_unchanged_stages_and_obeys_keys(page: Page, harness_url: str) -> None:
    root = show(page, harness_url, "passes", ".stages")
    expect(root).to_contain_text("2 unchanged, hidden")
    page.keyboard.press("j")
    expect(root).to_have_attribute("data-stage", "5")
    page.keyboard.press("u")
    expect(root).not_to_contain_text("hidden")
    page.keyboard.press("k")
    expect(root).to_have_attribute("data-stage", "4")
    expect(page.get_by_text("stage 4 of 7")).to_be_visible()


def test_rewrites_and_remarks_are_lists(page: Page, harness_url: str) -> None:
    root = show(page, harness_url, "passes", ".sides")
    root.get_by_role("button", name="Rewrites 2").click()
    rewrites = page.get_by_role("table", name="Rewrites")
    expect(rewrites).to_contain_text("@lifted_func_0")
    page.get_by_role("button", name="Remarks 1").click()
    expect(page.get_by_role("table", name="Remarks")).to_contain_text("closure reads x from main.")


def test_an_empty_graph_says_so(page: Page, harness_url: str) -> None:
    root = show(page, harness_url, "empty", ".state")
    expect(root).to_contain_text("main has no bindings.")


@pytest.mark.parametrize("what", ["source", "passes", "run"])
def test_hostile_names_stay_text(page: Page, harness_url: str, what: str) -> None:
    outside: list[str] = []
    page.on("request", lambda request: outside.append(request.url) if "127.0.0.1" not in request.url else None)
    show(page, harness_url, what, {"source": ".cm-content", "passes": ".sides", "run": ".strip"}[what])
    if what == "run":
        page.get_by_role("button", name="End").click()
        expect(page.locator(".out")).to_contain_text("<script>")
    else:
        page.locator("g.node[data-id=g3]").click()
        expect(page.locator(".root[data-title='n3']")).to_contain_text("<script>")
    wait_for(page, "document.readyState === 'complete'")
    assert page.evaluate("window.hacked") is None
    assert page.locator("foreignObject, .root script, .root image, .root a[href], .root animate").count() == 0
    assert [url for url in outside if "example.invalid" in url] == []


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_mode_of_the_system_is_followed_without_a_rerun(page: Page, harness_url: str, mode: Mode) -> None:
    page.emulate_media(color_scheme="dark" if mode == "light" else "light")
    root = show(page, harness_url, "run", ".strip")
    page.emulate_media(color_scheme=mode)
    expected = {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 23, 27)"}[mode]
    expect(root).to_have_css("background-color", expected)


@pytest.mark.parametrize("what", ["source", "passes", "run"])
def test_nothing_scrolls_sideways_at_1280(page: Page, harness_url: str, what: str) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    show(page, harness_url, what, {"source": ".cm-content", "passes": ".sides", "run": ".strip"}[what])
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= 1280
