"""The documents of `docs/` as the app shows them: what a reader may choose, and the text as Markdown."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from relax_core.engine.places import ROOT

FOLDER: Final = ROOT / "docs"
GROUPS: Final = ("pages", "guides", ".", "reference")
"""The folders in the order in which their documents are offered; `.` is the folder itself."""
PAGES: Final = "pages"

_CONTENTS: Final = "index.md"
_NAMED: Final = re.compile(r"`docs/([\w/]+\.md)`")
_MARK: Final = re.compile(r"^<!-- .* -->\n", re.MULTILINE)
_FENCE: Final = re.compile(r"^(```+)[^\n]*\n.*?^\1\s*$", re.MULTILINE | re.DOTALL)
_HEADING: Final = re.compile(r"^(#+) ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Guide:
    """A document."""

    path: str
    """Below `docs/`, such as `guides/find_a_nan.md`."""
    title: str
    text: str
    """Markdown without the title; documents that it names stand by their titles."""
    see: tuple[str, ...]
    """The paths of the documents that it names, in order."""


def guide_of(page: str) -> str:
    """Return the path of the guide of a page of the app."""
    return f"{PAGES}/{page}.md"


@lru_cache(maxsize=1)
def guides() -> tuple[Guide, ...]:
    """Return all documents that a user reads, those of pages first; the contents of the site are not among them."""
    paths = [path for group in GROUPS for path in sorted((FOLDER / group).glob("*.md")) if path.name != _CONTENTS]
    texts = {path.relative_to(FOLDER).as_posix(): path.read_text(encoding="utf-8") for path in paths}
    titles = {name: text.partition("\n")[0].removeprefix("# ") for name, text in texts.items()}
    return tuple(_guide(name, texts[name], titles) for name in texts)


def _guide(name: str, text: str, titles: dict[str, str]) -> Guide:
    body = _MARK.sub("", text).partition("\n")[2].strip()
    named = tuple(dict.fromkeys(path for path in _NAMED.findall(_FENCE.sub("", body)) if path in titles))

    def by_title(found: re.Match[str]) -> str:
        return f"*{titles[found[1]]}*" if found[1] in titles else found[0]

    made: list[str] = []
    at = 0
    for fence in _FENCE.finditer(body):
        made += [_prose(_NAMED.sub(by_title, body[at : fence.start()])), fence[0]]
        at = fence.end()
    made.append(_prose(_NAMED.sub(by_title, body[at:])))
    return Guide(name, titles[name], "".join(made), tuple(path for path in named if path != name))


def _prose(text: str) -> str:
    """Return a part of a document with headings of the size that a dialog has."""
    return _HEADING.sub(r"#\1 ", text)
