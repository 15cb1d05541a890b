"""Adding a page with a component touches its folder and one line: the guide's own text is put in place."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.folders import write_files
from tools.build_static import can_build

REPOSITORY = Path(__file__).resolve().parents[2]
GUIDE = REPOSITORY / "docs" / "contributing.md"
LAST, LINE = '    "learn",\n', '    "outline",\n'
FILES = ("state.py", "manifest.py", "page.py", "functions/component.py", "functions/index.ts", "functions/style.css")
COPIED = ("app.py", "package.json", "package-lock.json", "tsconfig.json", "biome.json", "pyproject.toml", "static")

# Run in the copy: opens the page by its address, presses a button of the component, and prints what came of it.
PROBE = """
import json, sys
from streamlit.testing.v1 import AppTest
from tests.views.pages import opened, sent_to
from views.shell.guide import key_columns
from views.state.address import to_address
from views.state.selection import screen

app = opened("outline", screen(sample="relax/fib.py", outlined="fib"))
view, model = sent_to(app)["relaxscope_functions"]
app.session_state["outline.functions"] = {"action": {"kind": "select", "name": "main", "seq": 1}}
app.run()
home = AppTest.from_file("app.py", default_timeout=120).run()
json.dump({
    "names": model["names"],
    "selected": view["selected"],
    "exceptions": [item.value for item in (*app.exception, *home.exception)],
    "address": to_address(screen(outlined="main")).get("outlined"),
    "keys": [title for column in key_columns() for title, _ in column],
}, sys.stdout)
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree with the guide's page: its folder, and the line in the table of pages."""
    home = tmp_path_factory.mktemp("tree")
    for name in ("relax_core", "views", "tools", "samples", "tests"):
        shutil.copytree(REPOSITORY / name, home / name, ignore=shutil.ignore_patterns("__pycache__", "golden"))
    for name in COPIED:
        path = REPOSITORY / name
        shutil.copytree(path, home / name) if path.is_dir() else shutil.copy(path, home / name)
    if can_build():
        os.symlink((REPOSITORY / "node_modules").resolve(), home / "node_modules")
    guide = GUIDE.read_text(encoding="utf-8")
    files: dict[str, str] = {}
    for name in FILES:
        found = re.search(rf"`{re.escape(name)}`:\n\n```\w+\n(.*?)```", guide, re.DOTALL)
        assert found is not None, name
        files[name] = found[1]
    write_files(home / "views" / "pages" / "outline", files)
    table = home / "views" / "__init__.py"
    pages = table.read_text(encoding="utf-8").replace(LAST, LAST + LINE)
    table.write_text(pages, encoding="utf-8")
    return home


@pytest.fixture(scope="module")
def built(copy: Path) -> Path:
    """The copy with its component built, as the guide says; without Node.js, a stand-in that no browser is given."""
    _run(copy, sys.executable, "tools/typescript_models.py")
    if can_build():
        _run(copy, sys.executable, "tools/build_static.py")
    else:
        (copy / "static" / "functions-0.js").write_text("", encoding="utf-8")
    return copy


def _run(home: Path, *command: str) -> str:
    done = subprocess.run(command, cwd=home, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_page_is_opened_by_its_address_and_hears_its_component(built: Path) -> None:
    found: dict[str, Any] = json.loads(_run(built, sys.executable, "-c", PROBE))
    assert found["exceptions"] == []
    assert sorted(found["names"]) == ["fib", "main"]
    assert found["selected"] == "fib"
    assert found["address"] == "main"
    assert "Outline" in found["keys"]


def test_building_changes_the_types_and_adds_one_file(built: Path) -> None:
    before = {path.name for path in (REPOSITORY / "static").glob("*.js")}
    after = {path.name for path in (built / "static").glob("*.js")}
    assert before < after
    assert [name.rsplit("-", 1)[0] for name in after - before] == ["functions"]
    models = (built / "views" / "widgets" / "generated" / "models.ts").read_text(encoding="utf-8")
    assert "export interface FunctionsProps" in models


def test_the_guides_code_keeps_the_rules_of_the_tree(built: Path) -> None:
    page = "views/pages/outline"
    _run(built, sys.executable, "-m", "ruff", "check", page)
    _run(built, sys.executable, "-m", "ruff", "format", "--check", page)
    if can_build():
        _run(built, "node_modules/.bin/tsc", "--noEmit")
        _run(built, "node_modules/.bin/biome", "check", "--error-on-warnings", page)
