"""The difference of two texts is offered as a patch, on the Passes page and on the Pipeline page."""

import re
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Locator, Page

from relax_core.engine.api.pipelines import open_pipeline
from relax_core.engine.protocol import Program, Script
from relax_core.engine.replies import Text
from relax_core.engine.session import Session
from tests.browser import OpenPage, open_popover, rest
from tests.present.test_patch import applied
from views.state.address import to_address
from views.state.selection import Selection, screen

SAMPLES = Path(__file__).parents[2] / "samples"


def saved(page: Page, button: Locator) -> tuple[str, str]:
    """Press a button and return the name and the text of the file that it saves."""
    with page.expect_download() as found:
        button.click()
    return found.value.suggested_filename, Path(found.value.path()).read_text(encoding="utf-8")


def shown(open_page: OpenPage, address: str, selection: Selection) -> Page:
    page = open_page()
    page.goto(f"{address}?{urlencode(to_address(selection))}")
    rest(page)
    open_popover(page.get_by_role("button", name="Share"))
    return page


@pytest.mark.browser
def test_the_patch_of_a_pass_makes_the_text_behind_it(open_page: OpenPage, app_url: str, tmp_path: Path) -> None:
    selection = screen(sample="relax/mlp.py", stage=1, pipeline="LegalizeOps, Normalize")
    page = shown(open_page, f"{app_url}/passes", selection)
    name, patch = saved(page, page.get_by_role("button", name="Patch", exact=True))
    assert name == "mlp.LegalizeOps.patch"
    _, text = saved(page, page.get_by_role("button", name="Text after LegalizeOps"))
    first = Session().request(Script(Program((SAMPLES / "relax" / "mlp.py").read_text(encoding="utf-8"))))
    assert isinstance(first, Text)
    assert applied(tmp_path, first.text, patch.replace("/mlp.py", "/m.py")) == text


@pytest.mark.browser
def test_the_patch_of_two_recorded_stages_makes_the_right_one(
    open_page: OpenPage, app_url: str, tmp_path: Path
) -> None:
    pipeline = open_pipeline(SAMPLES / "recordings" / "head_wrong.rxt")
    left, right = pipeline.stages[0], pipeline.stages[-1]
    selection = screen(recording="recordings/head_wrong.rxt", against=0, recorded_stage=len(pipeline.stages) - 1)
    page = shown(open_page, f"{app_url}/pipeline", selection)
    name, patch = saved(page, page.get_by_role("button", name="Patch A to B"))
    assert name.endswith(".patch")
    assert patch.startswith("--- a/")
    assert left.text is not None
    assert (
        applied(tmp_path, left.text, re.sub(r"^(---|\+\+\+) (.)/.*$", r"\1 \2/m.py", patch, flags=re.M)) == right.text
    )
