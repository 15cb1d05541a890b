"""What a newcomer finds at the top: layout, licence, README, samples with headers, nothing of the author's machine."""

import json
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.docs.site import GENERATED

REPOSITORY = Path(__file__).resolve().parent.parent

TOP_LEVEL = (
    ".ci/run",
    ".streamlit/config.toml",
    "LICENSE",
    "Makefile",
    "README.md",
    "app.py",
    "benchmarks/__main__.py",
    "pyproject.toml",
    "relax_core/__init__.py",
    "relax_core/__main__.py",
    "requirements.txt",
    "samples",
    "static",
    "tests/requirements.txt",
    "views/__init__.py",
)
NOT_OURS = frozenset(
    (".git", ".venv", ".docs", "__pycache__", ".pytest_cache", ".ruff_cache", ".hypothesis", "node_modules")
)
BINARY_SUFFIXES = frozenset((".npz", ".npy", ".png", ".gif", ".woff2", ".ico", ".rxt"))
HEADER_KEYS = ("title", "shows", "source")
COMMENT_OF = {".relay": "//"}

HOME = re.compile(r"(?<![\w.])/(?:root|home|Users)/")
DOCUMENT = re.compile(r"(?<![\w/.-])(?:[\w.-]+/)*[\w-]+\.md\b")
WORK_ORDER = re.compile(r"(?<![\w#/])issue \d(?!\d)")
# Directories that mean the same on every machine; a checkout that stands right inside one is not searched for.
SHARED_DIRECTORIES = frozenset(("/", "/app", "/etc", "/mnt", "/opt", "/srv", "/usr", "/usr/src", "/var"))


def tree_files() -> Iterator[Path]:
    for folder, folders, names in os.walk(REPOSITORY):
        folders[:] = sorted(set(folders) - NOT_OURS)
        # In a work tree of git `.git` is a file that says where the repository is.
        kept = sorted(name for name in set(names) - NOT_OURS if Path(name).suffix not in BINARY_SUFFIXES)
        yield from (Path(folder, name) for name in kept)


def sample_files() -> Iterator[Path]:
    for path in tree_files():
        # A lesson has front matter instead, and a notebook a title in its first cell, which their own tests read.
        if path.is_relative_to(REPOSITORY / "samples") and path.suffix not in (".md", ".ipynb"):
            yield path


def name_of(path: Path) -> str:
    return path.relative_to(REPOSITORY).as_posix()


def header_of(suffix: str, text: str) -> dict[str, str]:
    """Read `title`, `shows` and `source` from the comment that opens a sample, or from the keys of a JSON file."""
    if suffix == ".json":
        table = json.loads(text)
        return {key: str(table[key]) for key in HEADER_KEYS if key in table}
    comment = COMMENT_OF.get(suffix, "#")
    found: dict[str, str] = {}
    for line in text.splitlines():
        if not line.startswith(comment):
            break
        key, _, value = line.removeprefix(comment).strip().partition(":")
        if key in HEADER_KEYS and value.strip():
            found[key] = value.strip()
    return found


def foreign_names(text: str, checkout: Path = REPOSITORY, documents: frozenset[str] = frozenset()) -> Iterator[str]:
    """List what in a text is true on one machine or in one workplace only."""
    yield from HOME.findall(text)
    yield from (document for document in DOCUMENT.findall(text) if document not in documents)
    yield from WORK_ORDER.findall(text)
    for folder in (checkout, checkout.parent):
        if str(folder) not in SHARED_DIRECTORIES | {tempfile.gettempdir()}:
            yield from re.findall(rf"(?<![\w./-]){re.escape(str(folder))}(?![\w-])", text)


def run_time_packages() -> Iterator[str]:
    for line in (REPOSITORY / "requirements.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            yield re.split(r"[\[<>=~! ]", line)[0]


@pytest.mark.parametrize("name", TOP_LEVEL)
def test_the_layout_has(name: str) -> None:
    assert (REPOSITORY / name).exists()


def test_ci_run_is_executable() -> None:
    assert os.access(REPOSITORY / ".ci" / "run", os.X_OK)


def test_the_licence_is_apache_2() -> None:
    text = (REPOSITORY / "LICENSE").read_text(encoding="utf-8")
    assert "Apache License" in text
    assert "Version 2.0, January 2004" in text
    assert "END OF TERMS AND CONDITIONS" in text


@pytest.mark.parametrize("package", tuple(run_time_packages()))
def test_the_documents_say_what_a_package_is_for(package: str) -> None:
    document = (REPOSITORY / "docs" / "dependencies.md").read_text(encoding="utf-8")
    entry = re.search(rf"^- \*\*{re.escape(package)}\*\* (.+(?:\n  .+)*)", document, re.MULTILINE)
    assert entry is not None, f"docs/dependencies.md has no line `- **{package}** ...`"
    assert entry[1].endswith(".")
    assert len(entry[1].split()) >= 6


def test_every_sample_has_a_header() -> None:
    missing = [
        f"{name_of(path)}: {key}"
        for path in sample_files()
        for key in HEADER_KEYS
        if key not in header_of(path.suffix, path.read_text(encoding="utf-8"))
    ]
    assert not missing, "\n" + "\n".join(missing)


@pytest.mark.parametrize(
    ("suffix", "text", "keys"),
    [
        (".py", "# title: One\n# shows: a thing\n#\n# source: written for this\nx = 1", HEADER_KEYS),
        (".relay", "// title: One\n// shows: a thing\n// source: a tutorial\n", HEADER_KEYS),
        (".json", '{"title": "One", "shows": "a", "source": "b"}', HEADER_KEYS),
        (".py", "# title: One\n# shows:\nx = 1\n# source: too late", ("title",)),
        (".relay", "# title: One", ()),
    ],
)
def test_a_header_is_read_from_the_opening_comment(suffix: str, text: str, keys: tuple[str, ...]) -> None:
    assert tuple(header_of(suffix, text)) == keys


def test_nothing_names_a_place_outside_the_tree() -> None:
    made = ("decisions/index.md", *GENERATED)
    # A page of the documentation names another one by its place in docs/.
    there = (name for path in tree_files() for name in (path.name, name_of(path), name_of(path).removeprefix("docs/")))
    documents = frozenset((*there, *made, *(f"docs/{name}" for name in made)))
    found = [
        f"{name_of(path)}: {name}"
        for path in tree_files()
        if path != Path(__file__).resolve()
        for name in foreign_names(path.read_text(encoding="utf-8"), documents=documents)
    ]
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize(
    "text",
    [
        "open('/home/ann/x')",
        "cd /root/x",
        "/Users/ann/x",
        "see PLAN.md",
        "../plans/look.md",
        "done for issue 7",
        "cd /farm/plot/app",
        "ls /farm/other",
    ],
)
def test_a_name_from_outside_is_seen(text: str) -> None:
    assert tuple(foreign_names(text, checkout=Path("/farm/plot")))


@pytest.mark.parametrize(
    "text", ["README.md", "apache/tvm issue 12345", "tvm/src/relax", "https://x.org/home/", "/farmhouse", "x/farm/y"]
)
def test_an_ordinary_text_is_let_pass(text: str) -> None:
    assert not tuple(foreign_names(text, checkout=Path("/farm/plot"), documents=frozenset(("README.md",))))
