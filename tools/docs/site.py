"""Put the pages of `docs/` and those made of tables into one folder, and have Sphinx make a site of them."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from tools.docs.api_page import api_page
from tools.docs.codes_page import codes_page
from tools.docs.commands_page import commands_page
from tools.docs.passes_page import passes_page

REPOSITORY: Final = Path(__file__).resolve().parents[2]
DOCS: Final = REPOSITORY / "docs"
BUILT: Final = REPOSITORY / ".docs"

GENERATED: Final[Mapping[str, Callable[[], str]]] = MappingProxyType(
    {
        "reference/passes.md": passes_page,
        "reference/diagnostics.md": codes_page,
        "reference/commands.md": commands_page,
        "reference/python_api.md": api_page,
    }
)
"""Pages that are made of the tables of the program each time the site is built, and what makes each."""

_NAMED: Final = re.compile(r"(?<!\[)`docs/([\w/]+\.md)`(?!\])")
_FENCE: Final = re.compile(r"^(```+|~~~+).*?^\1\s*$", re.MULTILINE | re.DOTALL)
_FOLDER: Final = re.compile(r"(?<!\[)`docs/decisions/`(?!\])")


def linked(text: str, page: str) -> str:
    """Return a page in which each document that it names, such as `docs/rules.md`, is a link to it."""
    here = os.path.dirname(page)

    def link(found: re.Match[str]) -> str:
        # Without words a link has the title of the page.
        return f"[]({os.path.relpath(found[1], here or '.')})"

    def prose(part: str) -> str:
        part = _NAMED.sub(link, part)
        return _FOLDER.sub(f"[decisions]({os.path.relpath('decisions/index.md', here or '.')})", part)

    made: list[str] = []
    at = 0
    for fence in _FENCE.finditer(text):
        made += [prose(text[at : fence.start()]), fence[0]]
        at = fence.end()
    return "".join((*made, prose(text[at:])))


def assemble(folder: Path) -> None:
    """Write all pages and the configuration of Sphinx into an empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(DOCS, folder)
    for page, make in GENERATED.items():
        (folder / page).write_text(make(), encoding="utf-8")
    decisions = sorted(path.stem for path in (folder / "decisions").glob("*.md"))
    listed = "\n".join(decisions)
    contents = f"# Decisions\n\nOne page for each choice that surprises.\n\n```{{toctree}}\n{listed}\n```\n"
    (folder / "decisions" / "index.md").write_text(contents, encoding="utf-8")
    for path in folder.rglob("*.md"):
        name = path.relative_to(folder).as_posix()
        path.write_text(linked(path.read_text(encoding="utf-8"), name), encoding="utf-8")


def build(folder: Path) -> int:
    """Build the site below `folder` and return Sphinx's exit status; warnings are errors, and nothing is fetched."""
    source = folder / "source"
    assemble(source)
    command = (sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet", "-b", "html")
    return subprocess.run((*command, str(source), str(folder / "html")), check=False).returncode
