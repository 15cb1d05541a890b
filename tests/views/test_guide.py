"""`?` opens the guide of the page, other documents and the keys; a code opens its paragraph with programs."""

import pytest
from playwright.sync_api import Page, expect
from streamlit.testing.v1 import AppTest

from relax_core.engine.documents.guides import guide_of, guides
from relax_core.engine.documents.meanings import explanations
from tests.browser import OpenPage, rest
from tests.views.pages import assert_accessible, opened
from views import PAGES
from views.shell.references import DOCUMENTS
from views.state.selection import screen

BROKEN = "errors/ty_matmul.py"


def said(app: AppTest) -> str:
    return "\n".join(item.value for item in (*app.markdown, *app.caption, *app.code))


def test_every_page_has_a_guide_and_every_document_a_title() -> None:
    known = {guide.path: guide for guide in guides()}
    assert {guide_of(page) for page in PAGES} <= set(known)
    assert [guide.path for guide in guides()[: len(PAGES)]] == sorted(guide_of(page) for page in PAGES)
    for guide in guides():
        assert guide.title
        assert not guide.title.startswith(("#", "<"))
        assert "<!--" not in guide.text
        assert set(guide.see) <= set(known)
    assert "`docs/" not in known["guides/find_a_nan.md"].text
    assert known["guides/find_a_nan.md"].see == ("guides/debug_a_pass.md",)


@pytest.mark.parametrize("noun", PAGES)
def test_the_button_opens_the_guide_of_its_page(noun: str) -> None:
    app = opened(noun, screen())
    app.button(key="bar.keys").click().run()
    assert not app.exception
    assert app.selectbox(key="guide.chosen").value == guide_of(noun)
    assert f"## The {noun.capitalize()} page" in said(app)


def test_a_problem_opens_its_paragraph_with_the_program_mended() -> None:
    app = opened("passes", screen(sample=BROKEN))
    app.button(key="failure.code.0").click().run()
    assert not app.exception
    text = said(app)
    assert "#! TY012" in text
    assert "R.matmul(x, R.permute_dims(w))" in text
    app.button(key="guide.mended").click().run()
    assert not app.exception
    assert app.query_params["z"]
    assert not [item for item in app.button if str(item.key).startswith("failure.")]


@pytest.mark.browser
def test_the_guide_leads_to_other_documents(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/passes?sample=relax/mlp.py")
    # The key belongs to a component, which is there when it shows something.
    expect(page.locator("tr[aria-current='step']")).to_be_visible()
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("heading", name="The Passes page")).to_be_visible()
    dialog.get_by_role("button", name="A pass of one's own").click()
    expect(dialog.get_by_role("heading", name="A pass of one's own")).to_be_visible()
    expect(dialog.get_by_text("A rule is a pattern and what stands in place of a match")).to_be_visible()


@pytest.mark.browser
def test_a_code_below_the_text_opens_its_paragraph(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/?sample={BROKEN}")
    rest(page)
    page.get_by_role("button", name="TY012").click()
    page.get_by_role("button", name="A program that has it").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("Mended:")).to_be_visible()
    dialog.get_by_role("button", name="Open the mended program").click()
    expect(page.get_by_text("Well-formed")).to_be_visible()


@pytest.mark.browser
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_guide_is_accessible(open_page: OpenPage, app_url: str, mode: str) -> None:
    for width in (1440, 760):
        page = open_page(width, mode="dark" if mode == "dark" else "light")
        page.goto(f"{app_url}/run?sample=relax/fib.py")
        rest(page)
        page.locator(".st-key-bar-keys button").first.click()
        expect(page.get_by_role("dialog").get_by_role("heading", name="The Run page")).to_be_visible()
        assert_accessible(page, width, "dark" if mode == "dark" else "light")


def test_a_code_that_stands_anywhere_is_looked_up() -> None:
    app = opened("learn", screen())
    app.button(key="bar.keys").click().run()
    app.text_input(key="guide.looked_up").set_value("rs002")
    app.button(key="bar.keys").click().run()
    assert not app.exception
    assert "## RS002" in said(app)
    assert "R.nn.rellu(x)" in said(app)
    assert "R.nn.relu(x)" in said(app)


def test_a_name_is_looked_up_and_a_misspelled_one_is_told_which_is_near() -> None:
    app = opened("learn", screen())
    for name, words in {"LambdaLift": "Lifts local functions to the module", "FuseOpz": "did you mean FuseOps"}.items():
        app.button(key="bar.keys").click().run()
        app.text_input(key="guide.looked_up").set_value(name)
        app.button(key="bar.keys").click().run()
        assert not app.exception
        assert words in said(app)


def test_the_keys_are_searched_by_letter_deed_and_page() -> None:
    app = opened("learn", screen())
    app.button(key="bar.keys").click().run()
    assert "step back" in said(app).lower()
    for wanted, has, has_not in (("STEP", "`n`", "inspector in a narrow window"), ("`/`", "search", "step back")):
        app.text_input(key="guide.key").set_value(wanted)
        app.button(key="bar.keys").click().run()
        keys = "\n".join(item.value for item in app.markdown if "| Key |" in item.value)
        assert has in keys, wanted
        assert has_not not in keys.lower(), wanted
    app.text_input(key="guide.key").set_value("no `such` key")
    app.button(key="bar.keys").click().run()
    assert not app.exception
    assert "No key has" in said(app)


@pytest.mark.browser
@pytest.mark.parametrize(
    ("address", "button", "sentences"),
    [
        ("passes?sample=relax/mlp.py", "What LegalizeOps does", ("pass on Relax", "which Normalize gives")),
        (
            "passes?sample=relax/mlp.py&pipeline=LegalizeOps,AnnotateTIROpPattern,FuseOps&stage=3&view=remarks",
            "Explain this remark",
            ("lv2 is not fused", "a chance to do its work", "Only call_tir is fused"),
        ),
        (
            "passes?sample=relax/mlp.py&pipeline=LegalizeOps&stage=1&view=rewrites",
            "Explain this rule",
            ("rewrite rule", "Equal operators on equal types share one prim func", "pass on Relax"),
        ),
        (
            "run?sample=relax/mlp.py&time=3&view=instruction",
            "What the next instruction does",
            ("main calls check_tensor_info", "Calls a function with the values", "a tensor of that rank"),
        ),
        ("kernels?sample=tir/matmul.py", "Explain this remark", ("remark on a kernel", "Sums of products in tiles")),
    ],
    ids=["pass", "remark", "rule", "instruction", "remark on a kernel"],
)
def test_what_a_page_shows_is_explained(
    open_page: OpenPage, app_url: str, address: str, button: str, sentences: tuple[str, ...]
) -> None:
    page = open_page(760)
    page.goto(f"{app_url}/{address}")
    page.get_by_title(button).first.click()
    dialog = page.get_by_role("dialog", name="Explain this")
    for sentence in sentences:
        expect(dialog).to_contain_text(sentence)
    expect(dialog).not_to_contain_text("pass on Relay")
    rest(page)
    assert_accessible(page, 760, "light")


@pytest.mark.browser
@pytest.mark.parametrize(
    ("address", "code", "words"),
    [
        ("run?sample=errors/jt_out_of_range.py&time=99", "JT010", "T.if_then_else(i + 1 < n"),
        ("passes?sample=errors/ps_late_capture.py", "PS006", "def second(y"),
        ("partition?sample=relay/library_call_two.relay&lets=reported&step=4", "BY002", "begins"),
        ("run?sample=errors/jt_out_of_range.py&time=8&inside=8&clock=99", "JT010", "T.if_then_else(i + 1 < n"),
    ],
    ids=["where a run stopped", "why a pass failed", "what partitioning left", "where a kernel stopped"],
)
def test_a_code_within_a_component_opens_its_paragraph(
    page: Page, app_url: str, address: str, code: str, words: str
) -> None:
    page.goto(f"{app_url}/{address}")
    page.locator(f"button[data-code='{code}']").first.click()
    dialog = page.get_by_role("dialog", name="Diagnostic")
    expect(dialog).to_contain_text(code)
    expect(dialog).to_contain_text(words)


def test_every_kind_of_name_has_its_document() -> None:
    names = ("FuseOps", "tir.Fuse", "R.matmul", "call", "missed", "frame", "vm.builtin.alloc_storage", "TY012")
    kinds = {item.kind for name in names for item in explanations(name).found}
    assert kinds - {"diagnostic"} <= set(DOCUMENTS)
    assert set(DOCUMENTS.values()) <= {guide.path for guide in guides()}


@pytest.mark.parametrize(
    ("name", "button", "page", "field"),
    [
        ("R.matmul", "reference.operator.R.matmul", "operators", ("operator", "matmul")),
        ("LambdaLift", "reference.pass on Relax.LambdaLift", "passes", ("pipeline", "LambdaLift")),
    ],
    ids=["an operator", "a pass"],
)
def test_an_explanation_leads_to_what_shows_it(name: str, button: str, page: str, field: tuple[str, str]) -> None:
    app = opened("learn", screen())
    app.button(key="bar.keys").click().run()
    app.text_input(key="guide.looked_up").set_value(name)
    app.button(key="bar.keys").click().run()
    assert not app.exception
    app.button(key=button).click().run()
    assert app.session_state["selection"].values()[field[0]] == field[1]


@pytest.mark.browser
def test_an_explanation_leads_to_its_document_and_to_an_example(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/passes?sample=relax/mlp.py")
    page.get_by_title("What LegalizeOps does").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="The Passes page").click()
    expect(dialog.get_by_role("heading", name="The Passes page")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_title("What LegalizeOps does").click()
    dialog.get_by_role("button", name="LegalizeOps on an example").click()
    expect(page.get_by_text("Pipeline: own")).to_be_visible()
    expect(page.get_by_text("1 of 1 passes changed it")).to_be_visible()


def test_a_code_in_a_bar_opens_its_paragraph() -> None:
    app = opened("passes", screen(sample="errors/dv_never_visited.relay", results=1))
    app.button(key="passes.results.code").click().run()
    assert not app.exception
    assert "## EN002" in said(app)


def test_the_reason_why_a_run_stopped_opens_its_paragraph() -> None:
    app = opened("run", screen(sample="errors/jt_out_of_range.py"))
    app.button(key="run.code").click().run()
    assert not app.exception
    assert "T.if_then_else(i + 1 < n" in said(app)
