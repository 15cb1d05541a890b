"""A file that shows what a bisection found with tvm and numpy alone, and the text of a report with it."""

import base64
import difflib
import pprint
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

import numpy as np

from relax_core.engine.debug.replies import Bisection, Reproduced
from relax_core.engine.inputs import write_members
from relax_core.engine.npy import Array
from relax_core.engine.pipelines.entries import fail
from relax_core.engine.pipelines.scan import kind_of
from relax_core.vm.objects.values import ShapeValue

_COMMON: Final = Path(__file__).with_name("reproduce_tvm.py")
_FIRST_OF_DATA: Final = 'PASS_NAME = ""\n'
_LAST_OF_DATA: Final = "# The data of a reproducer stand in place of the lines above.\n"
_IMPORTS: Final = "\nimport base64\n"
_ARRAY_LIMIT_BYTES: Final = 8 << 20
_DIFF_LINES: Final = 200


@dataclass(frozen=True, slots=True)
class Form:
    """A form of the program: the pass that left it, its text, and the tensors of its metadata."""

    pass_name: str
    text: str
    constants: Sequence[Array | None] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """What is to be shown: the forms of the program, what was found, and the call with its expected result."""

    forms: tuple[Form, ...]
    found: Bisection
    args: tuple[Any, ...]
    expected: Mapping[str, Array]
    facts: Mapping[str, str]


def reproducer_of(case: Case) -> Reproduced:
    """Write the file and the report.

    Raises:
        CompileError: PL012: no form differs, what it takes is too large, or there is no module to run the kernels in.
    """
    at = case.found.first_different
    if at <= 0:
        fail("PL012", "no stage differs, so that there is nothing to reproduce")
    after, before = case.forms[at], case.forms[case.found.last_good]
    base = None
    if kind_of(before.text) != "module" or kind_of(after.text) != "module":
        base = next((item for item in reversed(case.forms[:at]) if kind_of(item.text) == "module"), None)
        if base is None:
            fail("PL012", "no stage before the difference has a Relax module that calls these prim funcs")
        before = base if kind_of(before.text) == "module" else before
    script = _script(case, before, after, base)
    return Reproduced(script, _report(case, before, after), after.pass_name)


def _script(case: Case, before: Form, after: Form, base: Form | None) -> str:
    arrays: dict[str, Array] = dict(case.expected)
    arguments = tuple(_argument(f"in_{number}", arg, arrays) for number, arg in enumerate(case.args))
    named = [_named(prefix, form, arrays) for prefix, form in (("before", before), ("after", after), ("base", base))]
    if sum(array.nbytes for array in arrays.values()) > _ARRAY_LIMIT_BYTES:
        hint = "give smaller sizes, such as --sizes n=4"
        fail("PL012", "the inputs, results and constants are too large to stand in one file", hint)
    archive = base64.b64encode(write_members(arrays)).decode()
    lines = [archive[start : start + 100] for start in range(0, len(archive), 100)]
    data = [
        f"PASS_NAME = {after.pass_name!r}",
        f"ENTRY = {case.found.entry!r}",
        'TARGET = "llvm"',
        "RELATIVE, ABSOLUTE = 1e-4, 1e-5",
        f"BASE = {_literal(base.text if base is not None else '')}",
        f"BEFORE = {_literal(before.text)}",
        f"AFTER = {_literal(after.text)}",
        "ARRAYS = (\n" + "\n".join(f'    "{line}"' for line in lines) + "\n)",
        f"ARGUMENTS = {pprint.pformat(arguments)}",
        f"BEFORE_CONSTANTS = {named[0]!r}",
        f"AFTER_CONSTANTS = {named[1]!r}",
        f"BASE_CONSTANTS = {named[2]!r}",
    ]
    common = _COMMON.read_text(encoding="utf-8")
    start, end = common.index(_FIRST_OF_DATA), common.index(_LAST_OF_DATA)
    head = common[common.index(_IMPORTS) : start]
    return "".join((_heading(case, after), head, "\n".join(data), "\n", common[end + len(_LAST_OF_DATA) :]))


def _named(prefix: str, form: Form | None, arrays: dict[str, Array]) -> tuple[str, ...]:
    """Return the names of a form's constants, whose arrays are added; one that is there already is not added again."""
    names: list[str] = []
    for number, array in enumerate(form.constants if form is not None else ()):
        known = next((name for name, item in arrays.items() if item is array), "")
        if array is not None and not known:
            known = f"{prefix}_{number}"
            arrays[known] = array
        names.append(known)
    return tuple(names)


def _argument(name: str, value: object, arrays: dict[str, Array]) -> Any:
    """Return an argument as the reproducer's literal: arrays by their names."""
    match value:
        case np.ndarray():
            arrays[name] = cast("Array", value)
            return name
        case ShapeValue():
            return ("shape", [int(item) for item in value])
        case tuple() | list():
            fields = cast("Sequence[object]", value)
            if all(isinstance(item, int) for item in fields):
                fields = cast("Sequence[int]", fields)
                return ("shape", [int(item) for item in fields])
            return ("tuple", *(_argument(f"{name}_{at}", item, arrays) for at, item in enumerate(fields)))
        case np.generic():
            return cast("Any", value).item()
        case _:
            return value


def _literal(text: str) -> str:
    """Return a text as a literal that reads as the text does, where that is possible."""
    is_plain = '"""' not in text and "\\" not in text and text.isprintable() is False and text.isascii()
    return f'"""\\\n{text}"""' if is_plain else repr(text)


def _sentences(case: Case, after: Form) -> list[str]:
    stage = case.found.stages[case.found.first_different]
    facts = ", ".join(
        f"{name} {value}" for name, value in case.facts.items() if name != "producer" and value not in ("", "{}")
    )
    said = [
        f"After {after.pass_name} `{case.found.entry}` computes another result than before it: {stage.words}.",
        "The texts before and after the pass are built and run by apache-tvm. A recording tells the name of a pass and",
        f"not its options; with --pass, relax.transform.{after.pass_name}() is applied in place of the second text.",
    ]
    return [*said, f"Recorded with: {facts}"] if facts else said


def _heading(case: Case, after: Form) -> str:
    words = "\n".join(_sentences(case, after)).replace("\\", "/").replace('"""', "'''")
    return f'"""{words}\n\nExit status: 1 while the bug is there, 0 if it is not, 2 if that cannot be told.\n"""\n'


def _report(case: Case, before: Form, after: Form) -> str:
    lines = list(
        difflib.unified_diff(
            before.text.splitlines(), after.text.splitlines(), f"before {after.pass_name}", after.pass_name, lineterm=""
        )
    )
    more = [f"... {len(lines) - _DIFF_LINES} more lines"] if len(lines) > _DIFF_LINES else []
    types = [f"- argument {number}: {_type(value)}" for number, value in enumerate(case.args)]
    return "\n".join(
        (
            f"# {after.pass_name} changes what `{case.found.entry}` computes",
            "",
            *_sentences(case, after),
            "",
            "The attached file needs apache-tvm and numpy. It exits with 1 while the bug is there.",
            "",
            *types,
            "",
            "```diff",
            *lines[:_DIFF_LINES],
            *more,
            "```",
            "",
        )
    )


def _type(value: object) -> str:
    if not isinstance(value, np.ndarray):
        return repr(value)[:100]
    array = cast("Array", value)
    return f"{array.dtype} {array.shape}"
