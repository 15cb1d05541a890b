"""The browser components: their built files belong to their sources, their types to the messages, their parts work.

Where Node.js and the packages of `npm ci` are, the components are built anew and their unit tests run. On any other
machine the digest of the sources that each built file opens with is compared, which everyone can compute.
"""

import gzip
import hashlib
import json
import re
import subprocess
from pathlib import Path

import pytest

from tools.build_static import (
    ESBUILD,
    ROOT,
    SOURCES,
    STATIC,
    built,
    can_build,
    components,
    digest,
    named,
    packages,
    recorded_digest,
    sources,
)
from tools.typescript_models import GENERATED, files

UNIT_TESTS = Path(__file__).resolve().parent
HAS_NODE = can_build()
COMPONENTS = tuple(components())
# Types alone, and the style of the page around the components.
OUTSIDE = (
    "widgets/globals.d.ts",
    "widgets/generated/models.ts",
    "shell/shell.css",
    "pages/classroom/classroom.css",
    "embed/embed.css",
)


def static_file(name: str) -> Path:
    (found,) = STATIC.glob(f"{name}-*.js")
    return found


def test_there_is_one_built_file_for_each_component_and_no_other() -> None:
    assert sorted(path.name.rsplit("-", 1)[0] for path in STATIC.glob("*.js")) == sorted(COMPONENTS)


@pytest.mark.parametrize("name", COMPONENTS)
def test_a_built_file_is_made_of_the_sources_that_are_here(name: str) -> None:
    path = static_file(name)
    text = path.read_text(encoding="utf-8")
    assert recorded_digest(text) == digest(name), "run npm ci and python tools/build_static.py"
    assert path.name == f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:10]}.js", "it was changed by hand"
    if HAS_NODE:
        assert built(name) == (path.name, text), "run python tools/build_static.py"


@pytest.mark.parametrize("name", COMPONENTS)
def test_a_built_file_holds_the_licences_of_its_packages(name: str) -> None:
    text = static_file(name).read_text(encoding="utf-8")
    for package in packages(name):
        assert re.search(rf"^/\*\n{re.escape(package)} \d", text, re.MULTILINE), package


def test_a_change_of_any_source_is_seen_without_a_build() -> None:
    """What the digest is of: the component's own files, those it shares, style sheets, and generated tables."""
    names = {*map(named, sources("stepper"))}
    assert {"stepper/index.ts", "stepper/style.css", "shared/mount.ts", "shared/base.css"} <= names
    assert {"generated/theme.ts", "stepper/memory_rows.ts"} <= names
    assert not any(name.startswith("diff/") or name == "generated/models.ts" for name in names)


def test_the_scripts_of_the_first_page_are_light() -> None:
    """Of which docs/dependencies.md says how many bytes they have, compressed; Streamlit's own come besides."""
    shown = ("editor", "graph", "inspector", "palette")
    assert sum(len(gzip.compress(static_file(name).read_bytes(), 9)) for name in shown) < 200_000


@pytest.mark.parametrize("name", ["models.ts", "theme.ts"])
def test_a_generated_file_is_what_the_messages_and_the_theme_make_it(name: str) -> None:
    assert (GENERATED / name).read_text(encoding="utf-8") == files()[name], "run python tools/typescript_models.py"


def test_package_json_pins_every_version_of_the_lock_file() -> None:
    """Where `npm ci` refuses the lock file, which lacks other platforms, the same versions are installed."""
    package = json.loads((ROOT / "package.json").read_text(encoding="utf-8"))
    locked = json.loads((ROOT / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    # Only one platform's packages are optional; their versions are those of the package that asks for them.
    versions = {
        path.removeprefix("node_modules/"): entry["version"]
        for path, entry in locked.items()
        if path and not entry.get("optional")
    }
    assert package["devDependencies"] | package["overrides"] == versions


def test_every_source_belongs_to_a_component() -> None:
    used = {path for name in COMPONENTS for path in sources(name)}
    here = {path for suffix in ("ts", "css") for path in SOURCES.rglob(f"*.{suffix}")}
    assert here - used == {SOURCES / name for name in OUTSIDE}


@pytest.mark.parametrize("name", [name for name in OUTSIDE if name.endswith(".css")])
def test_what_part_of_a_class_chooses_is_styled_itself_and_nothing_below_it(name: str) -> None:
    """Streamlit changes classes in each run: part of one above others restyles all below it."""
    for selector in re.findall(r"([^{}]+)\{", (SOURCES / name).read_text(encoding="utf-8")):
        assert not re.search(r"\[class[^\]]*\][^\s>+~,(){]*\s*[\s>+~]\s*[\w.\[:*#]", selector.strip()), selector
        assert not re.search(r":has\([^)]*\[class", selector), selector


def test_sources_write_no_markup_and_evaluate_nothing() -> None:
    forbidden = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|setAttribute\(\"on"
    )
    for path in sorted(SOURCES.rglob("*.ts")):
        assert not forbidden.search(path.read_text(encoding="utf-8")), path.name


@pytest.mark.parametrize("path", sorted(UNIT_TESTS.glob("*.test.ts")), ids=lambda path: path.name)
def test_parts_without_a_page(path: Path, tmp_path: Path) -> None:
    """Run the unit tests of a file with Node.js; without it, see only that what they test is in the built files."""
    if not HAS_NODE:
        text = path.read_text(encoding="utf-8")
        tested = set(re.findall(r' from "(?:\.\./\.\./\.\./views/[\w/]*?|#)(\w+/\w+)"', text)) - {"generated/models"}
        used = {named(source) for name in COMPONENTS for source in sources(name)}
        assert tested
        assert {f"{name}.ts" for name in tested} <= used
        return
    bundle = tmp_path / f"{path.stem}.mjs"
    options = ("--bundle", "--format=esm", "--platform=node", "--loader:.css=text", f"--outfile={bundle}")
    subprocess.run((ESBUILD, path, *options, "--log-level=warning"), cwd=ROOT, check=True)
    ran = subprocess.run(("node", "--test", bundle), capture_output=True, check=False, text=True)
    assert ran.returncode == 0, ran.stdout
