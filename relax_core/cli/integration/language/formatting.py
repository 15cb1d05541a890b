"""A text as it is printed here, for an editor that formats it; what printing would lose is a reason not to."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from typing import Final

from relax_core.cli.integration.language.document import Document
from relax_core.cli.terminal import Engine
from relax_core.engine.protocol import Failure, Program, Script, StructureOf

_SPELLINGS: Final = ("2026", "2025", "2023", "2022")
_WORDS: Final = re.compile(r"[^\W\d][\w.]*")
_CLASS: Final = re.compile(r"^class \w+:$", re.MULTILINE)
_DECLARED: Final = re.compile(r"^\w+ = TypeVar\(.*\)$", re.MULTILINE)
_ROOTS: Final = re.compile(r"(?<![\w.\"])([RTI]|tvm)(?=\.)")
_RELAY_LITERALS: Final = re.compile(r'"(?:\\.|[^"\\\n])*"|(?P<comment>//[^\n]*|/\*[\s\S]*?\*/)')


class NotFormattedError(Exception):
    """The text stays as it is; the message says why."""


def formatted(engine: Engine, document: Document, name: str) -> str:
    """Return a text whose module is as it is printed here; what stands around it stays.

    Raises:
        NotFormattedError: it has errors, or a comment or something else that printing would lose.
    """
    if document.code is None:
        raise NotFormattedError("there is no module to format")
    first = next((item for item in document.problems if item.severity == "error"), None)
    if first is not None:
        raise NotFormattedError(f"line {first.line} has an error: {first.message}")
    program = Program(document.text, name)
    made = _relay(engine, program) if document.language == "relay" else _script(engine, program)
    found = engine.request(StructureOf(program, Program(made, name)))
    if isinstance(found, Failure) or not found.is_same:
        raise NotFormattedError("printed, it would not be the same module")
    return made


def _relay(engine: Engine, program: Program) -> str:
    for found in _RELAY_LITERALS.finditer(program.text):
        if found["comment"] is not None:
            raise _comment(program.text.count("\n", 0, found.start()) + 1)
    return _printed(engine, program, "2026").rstrip("\n") + "\n"


def _script(engine: Engine, program: Program) -> str:
    """Print the module of a Python file, in the spelling that says it in the words which it has already."""
    lines = program.text.split("\n")
    module = _module(program.text)
    start = min(item.lineno for item in (module, *module.decorator_list))
    end = module.end_lineno or len(lines)
    for line in _comments(program.text):
        if start <= line <= end:
            raise _comment(line)
    words = set(_WORDS.findall("\n".join(lines[start - 1 : end])))
    # Only in 2022 were types without a prefix, and only from 2026 on are dimensions declared before the module.
    spellings = _SPELLINGS if "Tensor" in words else _SPELLINGS[:-1]
    printed = [_printed(engine, program, spelling) for spelling in spellings]
    fitting = [_body(text) for text in printed if set(_DECLARED.findall(text)) <= set(lines[: start - 1])]
    if not fitting:
        raise NotFormattedError("printed, it would declare dimensions before the module")
    best = min(fitting, key=lambda text: len(set(_WORDS.findall(text)) - words))
    before, behind = "\n".join(lines[: module.lineno - 1]), lines[end:]
    for root in set(_ROOTS.findall(best)):
        if re.search(rf"(?<![\w.]){root}(?!\w)", program.text) is None:
            raise NotFormattedError(f"printed, it would use {root}, which the file does not import")
    return "\n".join((*([before] if before else []), *best.rstrip("\n").split("\n"), *behind))


def _printed(engine: Engine, program: Program, spelling: str) -> str:
    reply = engine.request(Script(program, spelling=spelling))  # pyright: ignore[reportArgumentType]  # one of its own
    if isinstance(reply, Failure):
        raise NotFormattedError(reply.message or reply.title)
    return reply.text


def _module(text: str) -> ast.ClassDef:
    """Return the class of the one module of a Python file."""
    found = [item for item in ast.parse(text).body if isinstance(item, ast.ClassDef | ast.FunctionDef)]
    known = [item for item in found if any("ir_module" in ast.unparse(by) for by in item.decorator_list)]
    if len(known) != 1 or not isinstance(known[0], ast.ClassDef):
        count = "no class" if not known else "several classes"
        raise NotFormattedError(f"a file is formatted that holds one module, and this has {count} with @I.ir_module")
    return known[0]


def _body(printed: str) -> str:
    """Return what is printed of a module, from the line of its class on."""
    found = _CLASS.search(printed)
    assert found is not None, "a module is printed as a class"
    return printed[found.start() :]


def _comments(text: str) -> Iterator[int]:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0]


def _comment(line: int) -> NotFormattedError:
    return NotFormattedError(f"line {line} has a comment, which printing would lose")
