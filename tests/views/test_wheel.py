"""The wheel is all that it takes: installed elsewhere, its command works and its app shows every kind of component."""

import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from relax_core.cli import INTERRUPTED
from relax_core.engine.protocol import RELEASE
from tests.app_server import serve_by
from tests.code_rules import REPOSITORY
from tests.processes import cpu_seconds_of, wait_until
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


def test_its_command_writes_a_report_with_style_and_script(commands: Path, tmp_path: Path) -> None:
    done(commands / "relaxscope", "report", SAMPLE, cwd=tmp_path)
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert ".graph{" in text
    assert '<script type="module">// RelaxScope, component report' in text


def test_it_requires_what_the_program_needs(commands: Path) -> None:
    (site,) = commands.parent.glob("lib/python*/site-packages")
    (found,) = metadata.distributions(name="relaxscope", path=[str(site)])
    lines = (REPOSITORY / "requirements.txt").read_text(encoding="utf-8").splitlines()
    needed = {re.split(r"[\s<>=!\[]", line, maxsplit=1)[0] for line in lines if line and not line.startswith("#")}
    required = [line.partition("; extra ==") for line in found.requires or ()]
    assert {re.split(r"[\s<>=!\[]", line, maxsplit=1)[0] for line, _, extra in required if not extra} == needed
    assert [extra.strip(" \"'") for _, _, extra in required if extra] == ["notebook", "dask", "s3", "pdf"]
    assert {"streamlit", "llvmlite", "numpy"} < needed
    assert found.version == RELEASE


def test_ctrl_c_ends_it_quietly_at_any_time(commands: Path) -> None:
    for seconds in (0.1, 0.2, 0.3, 0.5):
        with subprocess.Popen(
            (commands / "relaxscope", "run", SAMPLE), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            while process.poll() is None and cpu_seconds_of(process.pid) < seconds:
                os.sched_yield()
            process.send_signal(signal.SIGINT)
            said = process.communicate(timeout=60)
        assert (process.returncode, *said) == (INTERRUPTED, "", "interrupted\n"), seconds


def test_its_app_opens_a_program_and_shows_every_page(
    commands: Path, tmp_path: Path, page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A browser that notes what it is to open.
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" >> "{tmp_path}/opened"\n', encoding="utf-8")
    browser.chmod(0o755)
    monkeypatch.setenv("BROWSER", str(browser))
    with serve_by((str(commands / "relaxscope"), "open", str(SAMPLE), "--port"), tmp_path) as url:
        wait_until((tmp_path / "opened").exists)
        assert (tmp_path / "opened").read_text(encoding="utf-8") == f"{url}/\n"
        page.goto(url)
        expect(page.get_by_role("tab", name="fib.py")).to_be_visible()
        expect(page.locator(".root[data-rev]")).to_have_count(4)
        for noun, component in (("passes", ".root[data-stage]"), ("run", ".root[data-at]"), ("kernels", ".root")):
            page.goto(f"{url}/{noun}?sample=seeds/my_ir_module_corrected.py")
            expect(page.locator(component).first).to_be_visible()
        page.goto(f"{url}/run?sample=seeds/print_closure2.py")
        pane(page, ".strip").get_by_role("button", name="End").click()
        expect(pane(page, ".strip")).not_to_have_attribute("data-at", "0")
        page.goto(f"{url}/learn")
        expect(page.get_by_text("What a tensor program is").first).to_be_visible()
