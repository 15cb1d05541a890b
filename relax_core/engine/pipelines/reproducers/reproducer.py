"""A file that shows what a bisection found with tvm and numpy alone, and the text of a report with it."""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, cast

import numpy as np

from relax_core.engine.debug.replies import Bisection, Reproduced
from relax_core.engine.npy import Array
from relax_core.engine.pipelines.entries import fail
from relax_core.engine.pipelines.reproducers.reduce import only, reached
from relax_core.engine.pipelines.reproducers.script import arguments_of, literal, named_constants, script_of
from relax_core.engine.pipelines.scan import constants_in, kind_of

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
    whole: str = ""
    """The entry of the program that the case is a part of, "" if it is all of it."""


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
    before, after, base = _reduced(case.found.entry, before, after, base)
    script = _script(case, before, after, base)
    return Reproduced(script, _report(case, before, after), after.pass_name)


def _reduced(entry: str, before: Form, after: Form, base: Form | None) -> tuple[Form, Form, Form | None]:
    """Return the forms with the functions that the entry reaches; what that is, the whole form tells."""

    def reduced(form: Form) -> Form:
        is_whole = base is None or form is base
        names = reached(form.text if is_whole or base is None else base.text, entry)
        text = only(form.text, names)
        used = frozenset(constants_in(text))
        kept = tuple(item if number in used else None for number, item in enumerate(form.constants))
        return replace(form, text=text, constants=kept)

    return reduced(before), reduced(after), None if base is None else reduced(base)


def _script(case: Case, before: Form, after: Form, base: Form | None) -> str:
    arrays: dict[str, Array] = dict(case.expected)
    arguments = arguments_of(case.args, arrays)
    data = {
        "PASS_NAME": repr(after.pass_name),
        "ENTRY": repr(case.found.entry),
        "TARGET": '"llvm"',
        "RELATIVE, ABSOLUTE": "1e-4, 1e-5",
    }
    for prefix, form in (("base", base), ("before", before), ("after", after)):
        data[prefix.upper()] = literal(form.text if form is not None else "")
        names = named_constants(prefix, form.constants if form is not None else (), arrays)
        data[f"{prefix.upper()}_CONSTANTS"] = repr(names)
    data["ARGUMENTS"] = arguments
    return script_of("\n".join(_sentences(case, after)), data, arrays, "compare_forms")


def _sentences(case: Case, after: Form) -> list[str]:
    stage = case.found.stages[case.found.first_different]
    facts = ", ".join(
        f"{name} {value}" for name, value in case.facts.items() if name != "producer" and value not in ("", "{}")
    )
    alone = f"Of the program of `{case.whole}` only `{case.found.entry}` is left, on made-up inputs of its own."
    said = [
        f"After {after.pass_name} `{case.found.entry}` computes another result than before it: {stage.words}.",
        "The texts before and after the pass are built and run by apache-tvm. A recording tells the name of a pass and",
        f"not its options; with --pass, relax.transform.{after.pass_name}() is applied in place of the second text.",
    ]
    said += [alone] if case.whole else []
    return [*said, f"Recorded with: {facts}"] if facts else said


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
