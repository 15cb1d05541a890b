"""The page of the Python interface, from the signatures and docstrings of its public names."""

import dataclasses
import inspect
import re
from collections.abc import Iterator
from typing import Any, Final

import relax_core as rc
from relax_core.engine.api import patterns, pipelines, reports, runs, texts

_GROUPS: Final = (
    ("Programs as text", texts),
    ("Passes, bytecode and runs", runs),
    ("Reports", reports),
    ("Recorded pipelines", pipelines),
    ("Patterns", patterns),
)
_INTRODUCTION = """# The Python interface

Made of the docstrings. `docs/python.md` shows the names at work. All of them stand in `relax_core`:
`import relax_core as rc`.
"""
_SECTION = re.compile(r"^(Raises|Args|Returns):\n((?:    .*\n?)+)", re.MULTILINE)


def api_page() -> str:
    """Return the page."""
    return "\n".join((_INTRODUCTION, *(line for title, module in _GROUPS for line in _group(title, module))))


def _group(title: str, module: Any) -> Iterator[str]:
    yield f"## {title}\n"
    for name in sorted(module.__all__, key=str.lower):
        yield from _name(name, getattr(rc, name))


def _name(name: str, thing: Any) -> Iterator[str]:
    yield f"### {name}\n"
    yield f"```python\n{_signature(name, thing)}\n```\n"
    yield f"{documented(inspect.getdoc(thing) or '')}\n"
    if inspect.isclass(thing):
        for member, what in _methods(thing):
            yield f"- `{member}`: {_first_line(what)}"
        yield ""


def _signature(name: str, thing: Any) -> str:
    if inspect.isclass(thing) and not dataclasses.is_dataclass(thing):
        return f"class {name}"
    try:
        text = f"{name}{inspect.signature(thing)}"
    except (TypeError, ValueError):
        return name
    text = re.sub(r"\brelax_core(?:\.\w+)+\.(\w+)", r"\1", text.replace("typing.", ""))
    text = re.sub(r"<(?:function|object|class) [^>]*>", "...", text)
    return f"class {text}".replace(" -> None", "") if inspect.isclass(thing) else text


def _methods(thing: type[Any]) -> Iterator[tuple[str, str]]:
    """List what a class offers besides its fields."""
    for member, value in vars(thing).items():
        if member.startswith("_"):
            continue
        if isinstance(value, property):
            yield member, inspect.getdoc(value) or ""
        elif inspect.isfunction(value):
            yield f"{member}()", inspect.getdoc(value) or ""


def _first_line(text: str) -> str:
    return re.sub(r"[\[\]]", lambda found: f"\\{found[0]}", text.partition("\n\n")[0].replace("\n", " "))


def documented(text: str) -> str:
    """Return a docstring as Markdown: what it raises becomes a list, and an indented example a block."""

    def section(found: re.Match[str]) -> str:
        items = re.sub(r"\n {8,}", " ", found[2]).splitlines()
        return f"{found[1]}:\n\n" + "\n".join(f"- {item.strip()}" for item in items) + "\n"

    return _SECTION.sub(section, text + "\n").rstrip()
