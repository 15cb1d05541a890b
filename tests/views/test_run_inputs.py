"""Sets of inputs: files become arguments, which the address, or the server, keeps under a name."""

import random
from io import BytesIO
from urllib.parse import urlencode

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import FilePayload, Page, expect
from safetensors.numpy import save

from relax_core.engine.debug.replies import GivenInput
from relax_core.engine.inputs import write_members
from tests.browser import rest
from tests.views.pages import arrive, opened
from tests.views.test_run_options import run_of, said
from views.shell.controls.input_files import told
from views.state.address import read_address, to_address
from views.state.inputs import InputSet, set_named, set_of, sets_in, with_set, without_set
from views.state.selection import screen
from views.state.shared import ProgramState

TEXT = '@R.function\ndef main(image: R.Tensor((1, "h", "w", 3), "float32")):\n    return R.abs(image)\n'
SIGNATURE = "(image: (1, h, w, 3) f32)"
FIVES = write_members({"in_0": np.full((1, 1, 2, 3), 5, np.float32)})


def shown(**values: str) -> str:
    """Return what the Run page has of a screen: the values of the run, and what it says."""
    app = opened("run", screen(sample="mine.py", text=TEXT, **values))
    return f"{run_of(app)['values']}\n{said(app)}"


def test_a_set_in_the_address_is_what_runs() -> None:
    fives = set_of("fives", SIGNATURE, "mine.py", FIVES)
    assert fives.content
    asked = screen(sample="mine.py", text=TEXT, fed="fives", input_sets=with_set("", fives))
    again = read_address(to_address(asked)).selection.of(ProgramState)
    assert again == asked.of(ProgramState)
    assert "5.00 5.00 5.00" in shown(fed="fives", input_sets=again.input_sets)


def test_a_set_that_is_not_here_is_said() -> None:
    gone = with_set("", InputSet("gone", SIGNATURE, link="a" * 16))
    assert "The inputs gone are not here" in shown(fed="gone", input_sets=gone)


def test_a_set_for_other_parameters_is_offered_only_while_it_is_chosen() -> None:
    sets = with_set(with_set("", set_of("other", "(x: (2,) f32)", "", FIVES)), set_of("own", SIGNATURE, "", FIVES))
    app = opened("run", screen(sample="mine.py", text=TEXT, input_sets=sets))
    assert app.selectbox(key="run.set").options == ["Made up", "own"]
    app = opened("run", screen(sample="mine.py", text=TEXT, input_sets=sets, fed="other"))
    assert app.selectbox(key="run.set").options == ["Made up", "own", "other"]
    assert "These inputs are for" in said(app)
    # Another program has no sets in its address; what this session had fits wherever the parameters are the same.
    arrive(app, to_address(screen(sample="another.py", text=TEXT.replace("abs", "exp"))))
    assert app.selectbox(key="run.set").options == ["Made up", "own"]
    app.selectbox(key="run.set").select("own").run()
    assert set_named(read_address(dict(app.query_params)).selection.of(ProgramState).input_sets, "own")
    assert "148" in str(run_of(app)["values"])


def test_a_set_is_removed_and_brought_back_as_it_was() -> None:
    sets = with_set("", set_of("fives", SIGNATURE, "", FIVES))
    app = opened("run", screen(sample="mine.py", text=TEXT, fed="fives", input_sets=sets))
    before = run_of(app)["values"]
    app.button(key="run.inputs.remove").click().run()
    assert "fed" not in app.query_params
    assert run_of(app)["values"] != before
    app.button(key="run.inputs.undo").click().run()
    assert app.query_params["fed"] == "fives"
    assert run_of(app)["values"] == before


def test_sets_have_one_name_each_and_damage_is_no_set() -> None:
    sets = with_set(with_set(with_set("", InputSet("a", "(x)")), InputSet("b", "(x)")), InputSet("a", "(y)"))
    assert [(item.name, item.signature) for item in sets_in(sets)] == [("b", "(x)"), ("a", "(y)")]
    assert set_named(without_set(sets, "b"), "b") is None
    assert without_set(without_set(sets, "b"), "a") == ""
    for damaged in ("{", '[{"name": 1}]', sets[:-3]):
        assert sets_in(damaged) == ()
    assert "The inputs a are not here" in shown(fed="a", input_sets='[{"name":"a","signature":"","content":"AAAA"}]')


def test_of_many_parameters_those_of_files_are_told_and_the_others_counted() -> None:
    made_up = [GivenInput(f"p{at}", "(2,) f32", "", "made up from seed 0", "(2,) float32") for at in range(290)]
    of_file = GivenInput("image", "(2,) f32", "x.npy", "", "(2,) float32")
    first = "image: x.npy: (2,) float32"
    assert told((made_up[0], of_file)) == [first, "p0: made up from seed 0: (2,) float32"]
    lines = told((*made_up, of_file))
    assert (lines[0], lines[-2][:3], lines[-1]) == (first, "p6:", "283 more: 283 made up")
    assert told((of_file,) * 9 + (made_up[0],))[-1] == "2 more: 1 from files, 1 made up"


def picture(side: int) -> FilePayload:
    file = BytesIO()
    noise = random.Random(side).randbytes(side * side * 3)
    Image.frombytes("RGB", (side, side), noise).save(file, "PNG")
    return FilePayload(name="noise.png", mimeType="image/png", buffer=file.getvalue())


@pytest.mark.browser
def test_a_picture_runs_is_kept_and_comes_back_in_another_browser(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/run?{'&'.join(f'{k}={v}' for k, v in to_address(screen(sample='m.py', text=TEXT)).items())}")
    rest(page)
    page.get_by_role("button", name="Inputs: seed 0").click()
    upload = page.locator("input[type=file]").first
    upload.set_input_files(FilePayload(name="image.npz", mimeType="application/zip", buffer=b""))
    expect(page.get_by_text("image.npz is empty: it has no bytes at all")).to_be_visible()
    page.get_by_role("button", name="Remove image.npz").click()
    upload.set_input_files(picture(40))
    expect(page.get_by_text("RGB, 40 × 40 pixels as NHWC, divided by 255")).to_be_visible()
    page.get_by_role("button", name="Keep", exact=True).click()
    expect(page.get_by_role("button", name="Keep", exact=True)).to_have_count(0)
    browser = page.context.browser
    assert browser is not None
    with browser.new_context() as other:
        again = other.new_page()
        again.goto(page.url)
        expect(again.get_by_role("button", name="Inputs: noise")).to_be_visible()
        expect(again.get_by_text("(1, 40, 40, 3)").first).to_be_visible()


def array_file() -> bytes:
    file = BytesIO()
    np.save(file, np.full((2, 3), 7, np.float32))
    return file.getvalue()


@pytest.mark.browser
@pytest.mark.parametrize(
    ("name", "content", "param", "value"),
    [
        ("x.npy", array_file(), '(2, 3), "float32"', "7.00 7.00 7.00"),
        ("all.safetensors", save({"x": np.full((2, 3), 9, np.float32)}), '(2, 3), "float32"', "9.00 9.00 9.00"),
        ("words.txt", b"hi", '("n",), "int64"', "104 105"),
    ],
    ids=["an array", "safetensors", "tokens of a text"],
)
def test_a_file_is_what_runs(page: Page, app_url: str, name: str, content: bytes, param: str, value: str) -> None:
    text = f"@R.function\ndef main(x: R.Tensor({param})):\n    return R.abs(x)\n"
    page.goto(f"{app_url}/run?{urlencode(to_address(screen(sample='m.py', text=text)))}")
    rest(page)
    page.get_by_role("button", name="Inputs: seed 0").click()
    file = FilePayload(name=name, mimeType="application/octet-stream", buffer=content)
    page.locator("input[type=file]").first.set_input_files(file)
    expect(page.get_by_text(name).first).to_be_visible()
    expect(page.locator("table.registers tr[data-kind^=tensor]", has_text="x").first).to_contain_text(value)
