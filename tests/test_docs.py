"""What docs/*.md names exists: every path, module, class, function, pass and command that stands in backticks."""

import ast
import os
import re
from argparse import ArgumentParser
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import cast

import pytest

from relax_core.cli.command_line import parser
from relax_core.passes.library import PASSES
from tools.docs.site import GENERATED

REPOSITORY = Path(__file__).resolve().parent.parent
DOCUMENTS = tuple(sorted((REPOSITORY / "docs").rglob("*.md")))
WRITTEN_BY_PROGRAMS = frozenset(("operators.md", "performance.md"))
ROOTS = ("relax_core", "views", "tests", "benchmarks", "tools", "docs", "samples", "static")

# Words of Python, of its libraries and of TVM's texts, and what contributing.md lets the reader write.
ELSEWHERE = frozenset(
    (
        *("None", "True", "False", "Mapping", "lru_cache", "AppTest", "relax_core"),
        *("DumpIR", "PrintAfterAll", "PrintBeforeAll", "kill_tensor", "External", "sinfo_args", "out_ty"),
        # The names of arrays in an archive.
        "in_0_1",
        *("Ret", "Goto", "compiler_begin", "compiler_end"),
        *("relax_core/ops/nn/softsign.py", "views/pages/outline/"),
    )
)

_EXPORTED = re.compile(r"^export (?:abstract )?(?:function|class|interface|type|const|enum) (\w+)", re.MULTILINE)
_BLOCK = re.compile(r"^(```+)[^\n]*\n(.*?)^\1$", re.MULTILINE | re.DOTALL)
_INDENTED = re.compile(r"^ {4}\S.*$", re.MULTILINE)
_SPAN = re.compile(r"(`+)(.+?)\1(?!`)", re.DOTALL)
_PATH = re.compile(r"[\w.*-]*(?:/[\w.*-]+)+/?|[\w-]+\.(?:py|md|toml|ll|js|ts|css)")
_MODULE = re.compile(r"(?:relax_core|views|tests|benchmarks)(?:\.[a-z_]\w*)+")
_CLASS = re.compile(r"(_?[A-Z]\w*[a-z]\w*)(?:\.(\w+))?(?:\(.*\)|\[.*\])?")
_FUNCTION = re.compile(r"([a-z]\w*_\w+)(?:\(.*\))?")
_COMMAND = re.compile(r"(?:\S*python3?) -m ([\w.]+)(?: (\S+))?([^|\n]*)")
_MAKE = re.compile(r"\bmake ([a-z]+)\b")
_PLACEHOLDER = re.compile(r"[<>…]")


def prose(text: str) -> str:
    return _INDENTED.sub("", _BLOCK.sub("", text))


def spans(text: str) -> Iterator[str]:
    """List what stands in backticks, each on one line."""
    yield from (re.sub(r"\s+", " ", found[2]).strip() for found in _SPAN.finditer(prose(text)))


def commands(text: str) -> Iterator[str]:
    """List the lines of blocks and what stands in backticks, where a command may be."""
    yield from spans(text)
    for block in _BLOCK.finditer(text):
        yield from block[2].splitlines()
    yield from (found[0].strip() for found in _INDENTED.finditer(_BLOCK.sub("", text)))


@cache
def names() -> frozenset[str]:
    """Return the classes, functions, constants and fields of the tree, `Class.member`, and TypeScript's exports."""
    found: set[str] = {name for _, name in PASSES}
    for script in (REPOSITORY / "views").rglob("*.ts"):
        found.update(_EXPORTED.findall(script.read_text(encoding="utf-8")))
    for root in ("relax_core", "views", "tests", "benchmarks"):
        for path in (REPOSITORY / root).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                match node:
                    case ast.ClassDef(name=name, body=body):
                        found.add(name)
                        found.update(f"{name}.{member}" for item in body for member in _defined(item))
                    case ast.FunctionDef(name=name, args=args):
                        found.add(name)
                        found.update(arg.arg for arg in (*args.args, *args.kwonlyargs))
                    case ast.Assign() | ast.AnnAssign():
                        found.update(_defined(node))
                    case _:
                        pass
    return frozenset(found)


def _defined(node: ast.stmt) -> Iterator[str]:
    match node:
        case ast.FunctionDef(name=name):
            yield name
        case ast.Assign(targets=targets):
            yield from (item.id for item in targets if isinstance(item, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name)):
            yield name
        case _:
            pass


def _is_module(name: str) -> bool:
    base = REPOSITORY / name.replace(".", os.sep)
    return base.is_dir() or base.with_suffix(".py").is_file()


def _members(module: str) -> frozenset[str]:
    """Return what stands at the top of a module."""
    path = (REPOSITORY / module.replace(".", os.sep)).with_suffix(".py")
    body = ast.parse(path.read_text(encoding="utf-8")).body if path.is_file() else []
    classes = (item.name for item in body if isinstance(item, ast.ClassDef))
    return frozenset((*classes, *(name for item in body for name in _defined(item))))


@cache
def options() -> dict[str, frozenset[str]]:
    """Return the options of every command of the command line."""
    choices: list[object] = [action.choices for action in parser()._actions]
    tables = (cast("dict[str, ArgumentParser]", item) for item in choices if isinstance(item, dict))
    return {
        name: frozenset(option for action in command._actions for option in action.option_strings)
        for commands in tables
        for name, command in commands.items()
    }


def absent(text: str) -> Iterator[str]:
    """List what a document names in backticks and the tree has not."""
    for span in spans(text):
        if _PLACEHOLDER.search(span) or re.split(r"[(\[]", span)[0] in ELSEWHERE:
            continue
        if _PATH.fullmatch(span) and span.split("/")[0] in ROOTS:
            is_made = span.removeprefix("docs/") in GENERATED
            if not is_made and not any(REPOSITORY.glob(span.rstrip("/"))):
                yield span
        elif _MODULE.fullmatch(span):
            holder, _, member = span.rpartition(".")
            if not _is_module(span) and not (_is_module(holder) and member in _members(holder)):
                yield span
        elif found := _CLASS.fullmatch(span):
            wanted = (found[1], f"{found[1]}.{found[2]}") if found[2] else (found[1],)
            yield from (name for name in wanted if name not in names())
        elif (found := _FUNCTION.fullmatch(span)) and found[1] not in names():
            yield span
    for line in commands(text):
        yield from _unknown_commands(line)


def _unknown_commands(line: str) -> Iterator[str]:
    targets = re.findall(r"^([a-z]+):", (REPOSITORY / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    for found in _COMMAND.finditer(line):
        module, command, rest = found.groups()
        if module == "relax_core" and command:
            yield from (
                f"{command} {item}"
                for item in (re.findall(r"--[\w-]+", rest) if command in options() else ["?"])
                if item not in options().get(command, ())
            )
        elif module.split(".")[0] in ROOTS:
            if not _is_module(module):
                yield module
        elif module == "pytest" and command:
            yield from (path for path in (command,) if "/" in path and not (REPOSITORY / path).exists())
    if line.startswith("make "):
        yield from (f"make {target}" for target in _MAKE.findall(line) if target not in targets)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_what_a_document_names_exists(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    found = tuple(_unknown_commands(text) if path.name in WRITTEN_BY_PROGRAMS else absent(text))
    assert not found, f"{path.relative_to(REPOSITORY)}: {', '.join(found)}"


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_a_document_is_in_the_contents(path: Path) -> None:
    contents = (REPOSITORY / "docs" / "index.md").read_text(encoding="utf-8").splitlines()
    name = path.relative_to(REPOSITORY / "docs").with_suffix("").as_posix()
    assert name in ("index", *contents) or f"{os.path.dirname(name)}/index" in contents, name


@pytest.mark.parametrize(
    "text",
    [
        "`relax_core/ir/nothing.py`",
        "`relax_core.ir.nothing`",
        "`Nowhere`",
        "`Stage.nothing`",
        "`no_such_function`",
        "`python -m relax_core nothing FILE`",
        "`python -m relax_core run FILE --nothing`",
        "`python -m benchmarks.nothing`",
        "`make nothing`",
        "    .venv/bin/python -m pytest tests/nothing.py",
        "```text\nmake nothing\n```",
    ],
)
def test_a_name_that_is_gone_is_seen(text: str) -> None:
    assert len(tuple(absent(text))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "`relax_core/passes/<dialect>/<verb>.py`",
        "`tests/ops/cases_*.py`",
        "`relax_core.ir`",
        "`Stage.after`",
        "`LambdaLift`",
        "`Machine(exe, tier='explicit')`",
        "`python -m relax_core run FILE --mode exact`",
        "`x + 0 -> x`",
        "`make run PORT=8600`",
        "```python\nNowhere()\n```",
    ],
)
def test_a_name_that_is_there_is_let_pass(text: str) -> None:
    assert tuple(absent(text)) == ()
