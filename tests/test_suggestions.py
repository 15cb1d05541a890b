"""Mistakes that know what mends them: the word that was probably meant, in place of the one that is written."""

from dataclasses import replace

import msgspec
import pytest

from relax_core.check.check import check
from relax_core.diagnostics import Diagnostic, Mend, Remedy, Suggestion
from relax_core.frontend.parse import parse_text
from relax_core.present import models
from relax_core.present.models import Problem
from relax_core.present.problems import problem_of
from relax_core.source import Source, Span

SCRIPT = """from tvm.script import ir as I, relax as R, tir as T

@I.ir_module
class Module:
    @R.function
    def helper(value: R.Tensor((2,), "float32")):
        return value

    @R.function
    def main(value: R.Tensor((2,), "float32")):
        cls = Module
        y = {call}
        return y
"""
RELAY = """#[version = "0.0.5"]
def @helper(%value: Tensor[(2), float32]) {{ %value }}
def @main(%value: Tensor[(2), float32]) {{ {call} }}
"""


def mended(text: str, name: str) -> str:
    """Return the text with the mend of its first error in place, and see that no error is left."""
    (error, *_) = (item for item in parse_text(text, name).diagnostics if item.severity == "error")
    mend = error.mend
    assert mend is not None
    fixed = text[: mend.span.start] + mend.text + text[mend.span.end :]
    assert not [item for item in parse_text(fixed, name).diagnostics if item.severity == "error"]
    problem = problem_of(error)
    assert problem.mend is not None
    assert (problem.mend.text, problem.mend.title) == (mend.text, mend.title)
    assert msgspec.json.decode(msgspec.json.encode(problem), type=Problem) == problem
    return mend.text


@pytest.mark.parametrize(
    ("call", "fix"),
    [
        ("R.nn.relu(valeu)", "value"),
        ("R.nn.rellu(value)", "R.nn.relu"),
        ("cls.helpr(value)", "cls.helper"),
    ],
)
def test_a_misspelt_name_of_tvmscript_is_mended(call: str, fix: str) -> None:
    assert mended(SCRIPT.format(call=call), "m.py") == fix


@pytest.mark.parametrize(
    ("call", "fix"),
    [
        ("nn.relu(%valeu)", "%value"),
        ("nn.rellu(%value)", "nn.relu"),
        ("relu(%value)", "nn.relu"),
        ("@helpr(%value)", "@helper"),
    ],
)
def test_a_misspelt_name_of_relay_is_mended(call: str, fix: str) -> None:
    assert mended(RELAY.format(call=call), "m.relay") == fix


def test_a_suggestion_about_a_part_of_its_span_is_no_mend() -> None:
    source = Source("m.py", "f(axs=1)")
    hint = Suggestion("axs", "axis")
    assert hint == "did you mean axis?"
    word = Span(source, 2, 5)
    assert Diagnostic("RS001", "", word, hint).mend == Mend(word, "axis", "Replace with axis")
    assert Diagnostic("RS001", "", Span(source, 0, 8), hint).mend is None
    assert Diagnostic("RS001", "", None, hint).mend is None
    assert replace(Diagnostic("RS001", "", word, hint), hint="else").mend is None
    assert Diagnostic("RS001", "", word, f"{hint} Or not.").mend is None


def test_a_remedy_is_a_hint_whose_mend_may_stand_elsewhere() -> None:
    source = Source("m.py", "f(axs=1)")
    mend = Mend(Span(source, 0, 0), "axs = 1\n", "Declare axs")
    remedy = Remedy("declare it", mend)
    assert remedy == "declare it"
    assert Diagnostic("RS001", "", Span(source, 2, 5), remedy).mend == mend
    assert Diagnostic("RS001", "", None, remedy).mend == mend
    assert replace(Diagnostic("RS001", "", None, remedy), hint="else").mend is None
    shown = problem_of(Diagnostic("RS001", "", Span(source, 2, 5), remedy)).mend
    assert shown == models.Mend("axs = 1\n", "Declare axs", 1, 1, 1, 1)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("y = R.add(value, (value\n        return y", "PA001"),
        ("y = R.concat(value value value)\n        return y", "PA001"),
        ('y = R.zeros((k,), "float32")\n        return y', "RS001"),
        ("y = R.no_such_thing_at_all(value)\n        return y", "RS002"),
    ],
    ids=["a bracket in one of two places", "two commas", "a dimension without a value", "an operator"],
)
def test_what_may_be_mended_in_several_ways_has_no_mend(body: str, code: str) -> None:
    text = SCRIPT.format(call="R.nn.relu(value)").replace("y = R.nn.relu(value)\n        return y", body)
    (error, *_) = (item for item in parse_text(text, "m.py").diagnostics if item.severity == "error")
    assert (error.code, error.mend) == (code, None)


@pytest.mark.parametrize(
    ("given", "mended_as"),
    [
        ("", "(pure=False)"),
        ("  # entry", "(pure=False)  # entry"),
        ("()", "(pure=False)"),
        ("(private=True)", "(private=True, pure=False)"),
        ("(pure=True)", "(pure=False)"),
    ],
)
def test_a_function_is_declared_to_have_side_effects(given: str, mended_as: str) -> None:
    text = SCRIPT.format(call="R.print(value)").replace(
        "@R.function\n    def main", f"@R.function{given}\n    def main"
    )
    text = text.replace("return y", "return value")
    (module,) = parse_text(text, "m.py").modules
    (mend,) = (item.mend for item in check(module) if item.code == "WF005")
    assert mend is not None
    fixed = text[: mend.span.start] + mend.text + text[mend.span.end :]
    assert f"@R.function{mended_as}\n    def main" in fixed
    assert [item.code for item in check(parse_text(fixed, "m.py").modules[0]) if item.severity == "error"] == []
