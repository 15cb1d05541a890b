"""The page of the Python interface, from the signatures and docstrings of its public names."""

import ast
import dataclasses
import inspect
import re
import textwrap
from collections.abc import Iterator
from typing import Any, Final

import relax_core as rc
from relax_core.engine.api import notebooks, patterns, pipelines, reports, runs, texts

_GROUPS: Final = (
    ("Programs as text", texts),
    ("Passes, bytecode and runs", runs),
    ("Reports", reports),
    ("Recorded pipelines", pipelines),
    ("Patterns", patterns),
    ("Notebooks", notebooks),
)
_INTRODUCTION = """# The Python interface

Made of the docstrings. `docs/python.md` shows the names at work. All of them stand in `relax_core`:
`import relax_core as rc`.
"""
_WIDTH: Final = 96
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
    """Return how a function is called, or what fields a class has, in the words of its source."""
    try:
        (node,) = ast.parse(textwrap.dedent(inspect.getsource(thing))).body
    except (TypeError, OSError):
        return name
    match node:
        case ast.FunctionDef(args=args, returns=returns):
            result = f" -> {ast.unparse(returns)}" if returns is not None else ""
            return _wrapped(name, ast.unparse(args), result)
        case ast.ClassDef(body=body) if dataclasses.is_dataclass(thing):
            fields = [ast.unparse(item) for item in body if isinstance(item, ast.AnnAssign)]
            return _wrapped(f"class {name}", ", ".join(fields), "")
        case _:
            return f"class {name}"


def _wrapped(head: str, inside: str, tail: str) -> str:
    """Put each argument on a line of its own where one line would be too long."""
    line = f"{head}({inside}){tail}"
    if len(line) <= _WIDTH:
        return line
    # A comma within brackets separates no arguments.
    parts, depth, start = list[str](), 0, 0
    for at, character in enumerate(f"{inside},"):
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            parts.append(inside[start:at].strip())
            start = at + 1
    lines = "".join(f"    {part},\n" for part in parts if part)
    return f"{head}(\n{lines}){tail}"


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
