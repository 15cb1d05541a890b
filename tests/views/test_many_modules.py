"""The page of many modules in Chromium: a cell of its matrix leads to its module and stage in the app."""

from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from relax_core.engine.protocol import Program
from relax_core.fleet.campaign import Matrix
from relax_core.fleet.jobs import Job, Result
from relax_core.fleet.reporting.page import to_html
from tests.engine.programs import SAMPLES
from tests.fleet.fleets import VERSION, cell


@pytest.mark.browser
def test_a_cell_leads_to_the_stage_of_its_module(page: Page, app_url: str, tmp_path: Path) -> None:
    text = (SAMPLES / "relax" / "mlp.py").read_text()
    program = Program(text, "mlp.py", pipeline="LegalizeOps, AnnotateTIROpPattern, FuseOps")
    found = Result("failed", "FuseOps changes the result", stage=3)
    wrong = replace(cell("mlp.py", text, "bisect"), job=Job("bisect", program), result=found)
    good = replace(cell("fib.py", "", "bisect"), result=Result("passed"))
    file = tmp_path / "matrix.html"
    file.write_text(to_html(Matrix((wrong, good), VERSION, "2 processes", 1.0), str(file), app_url))
    page.goto(file.as_uri())
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(2)
    page.get_by_role("checkbox", name="only modules that did not pass everywhere").check()
    expect(rows.filter(visible=True)).to_have_count(1)
    page.get_by_role("link", name="failed").click()
    stage = page.get_by_role("button", name="Stage 3, FuseOps, changed")
    expect(stage).to_have_attribute("aria-current", "step")
    expect(page.get_by_text("fused_matmul_add_relu").first).to_be_visible()
