"""Build the browser components: `python tools/build_static.py` writes `static/<name>-<hash>.js`.

A built file is one ES module: style sheet and marks generated from the theme, the shared parts, the sources of
the component. There is no bundler; sources use no import and only the component's last file has an export.
"""

import hashlib
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import msgspec

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from relax_core.present import theme  # noqa: E402  # the tool runs from a checkout, without installation

SOURCES = ROOT / "views" / "widgets"
STATIC = ROOT / "static"
SHARED = ("core", "marks", "code")
COMPONENTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "editor": ("parts/editor_layer",),
        "graph": ("parts/svg_import", "parts/graph_steps", "parts/graph_place"),
        "stepper": (
            "parts/rows",
            "parts/find",
            "parts/run_state",
            "parts/run_listing",
            "parts/run_values",
            "parts/run_points",
            "parts/run_change",
            "parts/run_memory",
            "parts/run_time",
        ),
        "diff": ("parts/rows", "parts/find", "parts/wrap"),
        "pipeline": (),
        "inspector": (),
        "catalog": (),
        "regions": ("parts/tables", "parts/regions_patterns"),
        "devices": ("parts/tables",),
        "kernels": ("parts/tables",),
    }
)


def built(name: str) -> tuple[str, str]:
    """Return file name and text of a component as it should be in `static/`."""
    css = "\n".join(
        (theme.component_css(), _read("parts/base.css"), _read(f"{name}.css") if _path(f"{name}.css").exists() else "")
    )
    look = msgspec.json.encode({"marks": theme.TOKENS.marks, "kinds": theme.TOKENS.kinds}).decode()
    colours = msgspec.json.encode(dict(theme.LIGHT)).decode()
    scripts = (*(f"parts/{part}" for part in SHARED), *COMPONENTS[name], name)
    text = "\n".join(
        (
            f"const LOOK = {look};",
            f"const LIGHT = {colours};",
            f"const CSS = {msgspec.json.encode(css).decode()};",
            *(_read(f"{script}.js") for script in scripts),
        )
    )
    digest = hashlib.sha256(text.encode()).hexdigest()[:10]
    return f"{name}-{digest}.js", text


def main() -> None:
    """Write what changed, and remove the files of older builds."""
    STATIC.mkdir(exist_ok=True)
    wanted = dict(built(name) for name in COMPONENTS)
    for path in STATIC.glob("*.js"):
        if path.name.rsplit("-", 1)[0] in COMPONENTS and path.name not in wanted:
            path.unlink()
    for file, text in wanted.items():
        (STATIC / file).write_text(text, encoding="utf-8")
        print(f"static/{file}  {len(text):,} characters")


def _path(name: str) -> Path:
    return SOURCES / name


def _read(name: str) -> str:
    return _path(name).read_text(encoding="utf-8")


if __name__ == "__main__":
    main()
