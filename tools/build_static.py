"""Build the browser components: `python tools/build_static.py` writes `static/<name>-<hash>.js`.

A component is a folder below `views/` with an `index.ts`. A built file is one ES module, which esbuild makes of that
and what it imports; `#shared/...` and `#generated/...` stand for folders that `imports` of `package.json` names. It
opens with the digest of its sources, so that a machine without Node.js can tell whether it is up to date, and with
the licences of the packages in it. Building needs Node.js and `npm ci`; running and testing does not.
"""

import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "views"
STATIC = ROOT / "static"
ESBUILD = ROOT / "node_modules" / ".bin" / "esbuild"
OPTIONS = (
    "--bundle",
    "--format=esm",
    "--target=es2022",
    "--charset=utf8",
    "--minify",
    "--legal-comments=none",
    "--loader:.css=text",
)
LOCK = ROOT / "package-lock.json"
PACKAGE = ROOT / "package.json"
_IMPORT = re.compile(r'^(?:import|export)(?! type\b)\b[^"=;()]*"([^"]+)";$', re.MULTILINE)
_DIGEST = re.compile(r"^// Sources: ([0-9a-f]+)$", re.MULTILINE)


class BuildError(Exception):
    """What esbuild says, or that it is not there."""


def components() -> dict[str, Path]:
    """Return the folder of each component by its name, which is the folder's.

    Raises:
        BuildError: two folders have one name.
    """
    found: dict[str, Path] = {}
    for path in sorted(SOURCES.rglob("index.ts")):
        if found.setdefault(path.parent.name, path.parent) != path.parent:
            raise BuildError(f"two components are called {path.parent.name}")
    return dict(sorted(found.items()))


def can_build() -> bool:
    """Tell whether Node.js is there, and the packages that `npm ci` installs."""
    try:
        return (
            ESBUILD.exists() and subprocess.run(("node", "--version"), capture_output=True, check=False).returncode == 0
        )
    except FileNotFoundError:
        return False


def sources(name: str) -> tuple[Path, ...]:
    """List the files that a component is made of, in the order of their names; types leave nothing in it."""
    found: set[Path] = set()
    waiting = [components()[name] / "index.ts"]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += _imported(path)
    return tuple(sorted(found, key=named))


def named(path: Path) -> str:
    """Name a source by its folder and file, so that a component may be moved and stays what it is."""
    return f"{path.parent.name}/{path.name}"


def packages(name: str) -> tuple[str, ...]:
    """List the npm packages in a component, with those that they need, in the order of their names."""
    locked: dict[str, dict[str, dict[str, str]]] = json.loads(LOCK.read_text(encoding="utf-8"))["packages"]
    found: set[str] = set()
    waiting = [package for path in sources(name) for package in _foreign(path)]
    while waiting:
        package = waiting.pop()
        if package not in found:
            found.add(package)
            waiting += locked[f"node_modules/{package}"].get("dependencies", {})
    return tuple(sorted(found))


def digest(name: str) -> str:
    """Return the digest of everything that a component is built from, except the version of esbuild."""
    whole = hashlib.sha256(" ".join(OPTIONS).encode())
    for path in sources(name):
        whole.update(f"\n{named(path)}\n".encode() + path.read_bytes())
    locked = json.loads(LOCK.read_text(encoding="utf-8"))["packages"]
    for package in packages(name):
        whole.update(f"\n{package} {locked[f'node_modules/{package}']['integrity']}".encode())
    return whole.hexdigest()[:20]


def recorded_digest(text: str) -> str:
    """Return the digest that a built file opens with; empty if it has none."""
    found = _DIGEST.search(text)
    return "" if found is None else found[1]


def built(name: str) -> tuple[str, str]:
    """Return file name and text of a component as it should be in `static/`.

    Raises:
        BuildError: a source is wrong, or esbuild is not installed.
    """
    if not can_build():
        raise BuildError("building needs Node.js and the packages of package-lock.json: run npm ci")
    entry = components()[name] / "index.ts"
    ran = subprocess.run(
        (ESBUILD, entry.relative_to(ROOT), *OPTIONS), cwd=ROOT, capture_output=True, check=False, text=True
    )
    if ran.returncode:
        raise BuildError(ran.stderr)
    text = f"// RelaxScope, component {name}: built by tools/build_static.py.\n// Sources: {digest(name)}\n"
    text += "".join(_licences(name)) + ran.stdout
    return f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:10]}.js", text


def main() -> None:
    """Write what changed, and remove the files of older builds."""
    STATIC.mkdir(exist_ok=True)
    try:
        wanted = dict(built(name) for name in components())
    except BuildError as error:
        sys.exit(str(error))
    for path in STATIC.glob("*.js"):
        if path.name not in wanted:
            path.unlink()
    for file, text in wanted.items():
        (STATIC / file).write_text(text, encoding="utf-8")
        print(f"static/{file}  {len(text.encode()):,} bytes")


def _imported(path: Path) -> Iterator[Path]:
    for name in _imports(path):
        if name.startswith("#"):
            yield _aliased(name)
        elif name.startswith("."):
            file = path.parent / name
            yield (file if file.suffix == ".css" else Path(f"{file}.ts")).resolve()


def _aliased(name: str) -> Path:
    """Return the file that `#room/name` stands for."""
    room, _, file = name.partition("/")
    target: str = json.loads(PACKAGE.read_text(encoding="utf-8"))["imports"][f"{room}/*"]
    return ROOT / target.replace("*", file)


def _foreign(path: Path) -> Iterator[str]:
    return (name for name in _imports(path) if name[0] not in ".#")


def _imports(path: Path) -> list[str]:
    return _IMPORT.findall(path.read_text(encoding="utf-8")) if path.suffix == ".ts" else []


def _licences(name: str) -> Iterator[str]:
    """Yield a comment with the licence of each package in a component."""
    for package in packages(name):
        folder = ROOT / "node_modules" / package
        version = json.loads((folder / "package.json").read_text(encoding="utf-8"))["version"]
        text = next(folder.glob("LICENSE*")).read_text(encoding="utf-8").replace("*/", "* /").strip()
        yield f"/*\n{package} {version}\n\n{text}\n*/\n"


if __name__ == "__main__":
    main()
