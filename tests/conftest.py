"""Fixtures that every test may use: expected texts, the running app, headless Chromium."""

import gc
import os
import shutil
from collections.abc import Generator, Iterator
from importlib.util import find_spec

import pytest
from hypothesis import HealthCheck, settings
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from relax_core.engine.process import client
from relax_core.engine.process.forked import forked_workers
from relax_core.engine.process.worker import tune_collector
from relax_core.engine.programs.pass_files import PASSES_VARIABLE
from relax_core.engine.scheduling import beside_tvm
from relax_core.jit.compilation.cache_directory import VARIABLE
from relax_core.passes.own import OWN_PASSES
from tests import browser
from tests.app_server import serve
from tests.browser import OpenPage, chromium_path
from tests.code_rules import REPOSITORY
from tests.golden_text import Golden

PAGES = "tests/views/"
COMPILER_NAMES = ("g++", "gcc", "clang++", "clang")
OLD_TVM = REPOSITORY / ".venv" / "apache-tvm-0.25"
"""The environment with apache-tvm 0.25 that `tools/set_up.sh` makes."""
DEBUG_CLIENT = REPOSITORY / "node_modules/@vscode/debugadapter-testsupport"

# The same examples in every run, however long a busy machine takes for them; `HYPOTHESIS_PROFILE=default` looks for
# others, and for more.
settings.register_profile(
    "repeatable",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=50,
    suppress_health_check=(HealthCheck.too_slow,),
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))

# No test reads what another run left in the user's cache of compiled kernels, nor leaves anything there.
os.environ[VARIABLE] = "off"
# A schedule is timed by apache-tvm in the tests that ask for it.
os.environ[beside_tvm.VARIABLE] = "off"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="write tests/golden/ instead of comparing; read the diff"
    )
    parser.addoption("--every-lesson", action="store_true", help="play every lesson in the browser, not three of them")


def compiler_path() -> str | None:
    """Find the compiler with which apache-tvm links a module that has no kernels."""
    return next(filter(None, map(shutil.which, COMPILER_NAMES)), None)


def missing() -> dict[str, str]:
    """Name the markers whose tests cannot run on this machine, and say why."""
    found: dict[str, str] = {}
    if chromium_path() is None:
        names = ", ".join(browser.NAMES)
        found["browser"] = f"Browser tests need Chromium and were deselected: none of {names} was found."
    if compiler_path() is None:
        names = ", ".join(COMPILER_NAMES)
        found["tvm"] = f"Comparisons with TVM need a C compiler and were deselected: none of {names} was found."
    if not (OLD_TVM / "installed").exists():
        found["old_tvm"] = f"The recorder was not tested with apache-tvm 0.25: {OLD_TVM} was not made."
    if find_spec("distributed") is None:
        found["dask"] = "Tests of a Dask cluster were deselected: the package distributed is not installed."
    if not (DEBUG_CLIENT.is_dir() and shutil.which("node")):
        found["node"] = (
            "The client of VS Code held no session with the debug adapter: Node.js or its package is missing."
        )
    return found


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    # All that is collected stays to the end: the collector of garbage looks at none of it, and seldom at the rest.
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        tune_collector()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    # Pages take the most time for their number: they start first, so that no process ends long after the others.
    items.sort(key=lambda item: not item.nodeid.startswith(PAGES))
    markers = missing()
    left_out = [item for item in items if any(item.get_closest_marker(marker) for marker in markers)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        kept = set(items) - set(left_out)
        items[:] = [item for item in items if item in kept]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for words in missing().values():
        terminalreporter.write_line(words)


@pytest.fixture(scope="session")
def golden(request: pytest.FixtureRequest) -> Golden:
    """Compare with `tests/golden/`: `golden.check("passes/lambda_lift.txt", text)`."""
    return Golden(is_updating=bool(request.config.getoption("--update-golden")))


@pytest.fixture(scope="session")
def app_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start the app once, from a foreign working directory, and give its address."""
    with serve(tmp_path_factory.mktemp("app")) as url:
        yield url


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """Start the installed Chromium once, without a window."""
    with sync_playwright() as playwright, browser.started(playwright) as started:
        yield started


@pytest.fixture(scope="session")
def profile(chromium: Browser, app_url: str) -> Iterator[BrowserContext]:
    """Keep one profile for all tabs of a process."""
    with browser.profile(chromium, f"{app_url}/_stcore/health") as kept:
        yield kept


@pytest.fixture
def open_page(profile: BrowserContext) -> Iterator[OpenPage]:
    """Open tabs of a size and in a mode of their own."""
    with browser.tabs(profile) as opened:
        yield opened


@pytest.fixture
def page(open_page: OpenPage) -> Page:
    """Open an empty tab, 1440 x 900."""
    return open_page()


@pytest.fixture
def pass_file(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Forget behind a test what a command's `--pass-file` sets and registers in this process."""
    monkeypatch.setenv(PASSES_VARIABLE, "")
    yield
    OWN_PASSES.drop(OWN_PASSES.names)


@pytest.fixture(autouse=True)
def forked_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fork the workers of clients that would start them anew, since each would take a second to load the package.

    A file whose tests are about workers that are started anew has a fixture of this name that does nothing.
    """
    monkeypatch.setattr(client, "NewProcesses", forked_workers)
