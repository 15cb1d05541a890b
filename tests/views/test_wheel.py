"""The wheel is all that it takes: installed elsewhere, its command works and its app shows every kind of component."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.app_server import serve_by
from tests.code_rules import REPOSITORY
from tests.views.test_app import pane

SAMPLE = REPOSITORY / "samples" / "relax" / "fib.py"


def done(*command: str | Path, cwd: Path) -> str:
    """Run a command to its end, with nothing of this checkout in its environment, and return what it printed."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    found = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert found.returncode == 0, found.stderr
    return found.stdout


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel, install it into an environment of its own, and give the folder of the environment's commands.

    What the wheel requires is taken from the environment of the tests, where it was installed from the same list.
    """
    folder = tmp_path_factory.mktemp("wheel")
    pip = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")
    # What is built leaves traces beside its sources.
    left_out = shutil.ignore_patterns(".*", "tests", "benchmarks", "node_modules", "__pycache__")
    sources = shutil.copytree(REPOSITORY, folder / "sources", ignore=left_out)
    shutil.copytree(REPOSITORY / ".streamlit", sources / ".streamlit")
    done(*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, sources, cwd=folder)
    (wheel,) = folder.glob("relaxscope-*.whl")
    made = folder / "made"
    done(sys.executable, "-m", "venv", "--without-pip", made, cwd=folder)
    done(*pip, "--python", made / "bin" / "python", "install", "--no-deps", wheel, cwd=folder)
    (site,) = made.glob("lib/python*/site-packages")
    (site / "requirements.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    return made / "bin"


def test_its_command_runs_a_program(commands: Path, tmp_path: Path) -> None:
    done(commands / "relaxscope", "run", SAMPLE, "--outputs", "out.npz", cwd=tmp_path)
    assert np.load(tmp_path / "out.npz")["out"].shape == ()
    usage = done(commands / "relaxscope", "opt", "--help", cwd=tmp_path)
    assert usage.startswith("usage: relaxscope opt ")


def test_it_requires_what_the_program_needs(commands: Path) -> None:
    (site,) = commands.parent.glob("lib/python*/site-packages")
    (found,) = metadata.distributions(name="relaxscope", path=[str(site)])
    lines = (REPOSITORY / "requirements.txt").read_text(encoding="utf-8").splitlines()
    needed = {re.split(r"[\s<>=!\[]", line, maxsplit=1)[0] for line in lines if line and not line.startswith("#")}
    assert {re.split(r"[\s<>=!\[]", line, maxsplit=1)[0] for line in found.requires or ()} == needed
    assert {"streamlit", "llvmlite", "numpy"} < needed


def test_its_app_opens_a_program_and_shows_every_page(commands: Path, tmp_path: Path, page: Page) -> None:
    command = (str(commands / "relaxscope"), "open", str(SAMPLE), "--no-browser", "--port")
    with serve_by(command, tmp_path) as url:
        page.goto(url)
        expect(page.get_by_role("tab", name="fib.py")).to_be_visible()
        expect(page.locator(".root[data-rev]")).to_have_count(3)
        for noun, component in (("passes", ".root[data-stage]"), ("run", ".root[data-at]"), ("kernels", ".root")):
            page.goto(f"{url}/{noun}?sample=seeds/my_ir_module_corrected.py")
            expect(page.locator(component).first).to_be_visible()
        page.goto(f"{url}/run?sample=seeds/print_closure2.py")
        pane(page, ".strip").get_by_role("button", name="End").click()
        expect(pane(page, ".strip")).not_to_have_attribute("data-at", "0")
        page.goto(f"{url}/learn")
        expect(page.get_by_text("What a tensor program is").first).to_be_visible()
