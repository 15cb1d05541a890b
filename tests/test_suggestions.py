"""Mistakes that know what mends them: the word that was probably meant, in place of the one that is written."""

from dataclasses import replace

import msgspec
import pytest

from relax_core.diagnostics import Diagnostic, Suggestion
from relax_core.frontend.parse import parse_text
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
    assert error.span is not None
    assert error.fix
    fixed = text[: error.span.start] + error.fix + text[error.span.end :]
    assert not [item for item in parse_text(fixed, name).diagnostics if item.severity == "error"]
    problem = problem_of(error)
    assert problem.fix == error.fix
    assert msgspec.json.decode(msgspec.json.encode(problem), type=Problem) == problem
    return error.fix


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
    assert Diagnostic("RS001", "", Span(source, 0, 8), hint).fix == ""
    assert Diagnostic("RS001", "", Span(source, 2, 5), hint).fix == "axis"
    assert Diagnostic("RS001", "", None, hint).fix == ""
    assert replace(Diagnostic("RS001", "", Span(source, 2, 5), hint), hint="else").fix == ""
    assert Diagnostic("RS001", "", Span(source, 2, 5), f"{hint} Or not.").fix == ""
