"""Broken texts: every error is reported at its place, nothing follows from it, and nothing raises."""

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from relax_core.codes import CODES
from relax_core.diagnostics import Diagnostic
from relax_core.frontend.parse import parse_text
from relax_core.ir.node import postorder
from relax_core.printer.tvmscript import print_module
from tests.frontend.seeds import FOUR_ERRORS, PROGRAMS, SAMPLES

# A damaged text and one with more than fifty errors are tests here, not samples.
NOT_SAMPLED = ("PA002", "PA014")
CODES_OF_THE_PARSER = tuple(code for code in CODES if code.startswith(("PA", "RS")) and code not in NOT_SAMPLED)
TEXTS = tuple(path.read_text(encoding="utf-8") for path in PROGRAMS)
MARK = re.compile(r"#! ((?:PA|RS)\d{3})")
FRAGMENTS = (
    "(",
    ")",
    "[",
    "]",
    "{",
    '"',
    "'",
    '"""',
    ":",
    "\n",
    "    ",
    "\t",
    "\\\n",
    "R.",
    "T.",
    "@",
    "#",
    "é",
    "\U0001f600",
    "\0",
)


def errors(text: str) -> list[Diagnostic]:
    return [item for item in parse_text(text, "broken.py").diagnostics if item.severity == "error"]


def places(text: str) -> list[tuple[str, int]]:
    return [(item.code, item.span.line) for item in errors(text) if item.span is not None]


def test_the_errors_of_one_file_are_reported_together() -> None:
    found = errors(FOUR_ERRORS)
    assert [(item.code, item.span.line) for item in found if item.span] == [("PA001", 5), ("RS002", 6), ("RS001", 7)]
    assert found[1].hint == "did you mean R.matmul?"
    assert [item.span.text for item in found[1:] if item.span] == ["R.matmull", "xx"]


def test_the_statements_around_a_broken_one_are_read() -> None:
    (module,) = parse_text(FOUR_ERRORS, "broken.py").modules
    assert "d = R.matmul(x, w)" in print_module(module).text


@pytest.mark.parametrize("code", CODES_OF_THE_PARSER)
def test_every_code_has_a_sample(code: str) -> None:
    pattern = re.compile(rf"#!.*\b{code}\b")
    assert any(pattern.search(path.read_text(encoding="utf-8")) for path in (SAMPLES / "errors").glob("*.py"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@R.function\ndef f(x: T:\n    return x\n@R.function\ndef g():\n    return y\n", [("PA001", 2), ("RS001", 6)]),
        ("@R.function\ndef f():\n@R.function\ndef g():\n    return y\n", [("PA001", 3), ("RS001", 5)]),
        ("@R.function\ndef f(x):\n    y = (1,\n    z = q\n    return x\n", [("PA001", 3), ("RS001", 4)]),
        ("@R.function\ndef f(x):\n    y = R.exp(x) )\n    return y\n", [("PA001", 3)]),
        ("@R.function\ndef f(x):\n    y = 'abc\n    return y\n", [("PA001", 3)]),
        ("@R.function\ndef f(x):\n      y = x\n    return y\n", [("PA001", 4)]),
        ("@R.function\ndef f(x):\n    with R.dataflow(:\n        a = x\n    return a\n", [("PA001", 3)]),
        ("@R.function\ndef f(x):\n    R.exp(x\n", [("PA001", 3)]),
        ('x = """\n@R.function\n', [("PA001", 1)]),
    ],
    ids=["header", "no body", "open bracket", "closing bracket", "string", "dedent", "block", "end", "long string"],
)  # fmt: skip
def test_a_syntax_error_costs_one_statement(text: str, expected: list[tuple[str, int]]) -> None:
    assert places(text) == expected


def test_fifty_syntax_errors_are_enough() -> None:
    found = errors("x = )\n" * 200)
    assert len(found) == 51
    assert found[-1].code == "PA014" or found[0].code == "PA014"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\0",
        "\ud800",
        "\ufeff",
        "(" * 10_000,
        "x = " + "(" * 90 + ")" * 90,
        "x = " + "-" * 5_000 + "1",
        "@R.function\ndef f(x):\n    return " + "R.exp(" * 95 + "x" + ")" * 95,
        "@R.function\ndef f(x):\n    return " + " + ".join(["x"] * 20_000),
        "@R.function\ndef f(x):\n    return " + "not " * 3_000 + "x",
        "@R.function\ndef f(x):\n    return x" + "[0]" * 3_000,
        "@R.function\ndef f(x):\n" + "".join(" " * (i + 4) + "if x:\n" for i in range(99)) + " " * 103 + "y = x\n",
        "if 1:\n" * 200,
        "@R.function\ndef f(x: R.Tensor((" + "1 << 62 << " * 50 + "1,))):\n    return x",
        "@R.function\ndef f(x):\n    return R.const(" + "9" * 6_000 + ")",
        "@R.function\ndef f(x: R.Tensor(('" + "(" * 300 + "',))):\n    return x",
        "\\",
        "class",
        "@",
        "\r\r\n\f\v",
    ],
    ids=lambda text: repr(text[:40]),
)
def test_a_hostile_text_ends_in_a_diagnostic(text: str) -> None:
    assert errors(text)


def test_a_long_sum_is_not_deep() -> None:
    text = "@R.function\ndef f(x):\n    return " + " + ".join(["x"] * 500)
    assert errors(text) == []


def test_places_count_code_points() -> None:
    (found,) = errors('@R.function\ndef f(größe):\n    """ß\U0001f600"""; é = größe; y = R.exp(größ)\n    return y\n')
    assert found.span is not None
    assert (found.span.text, found.hint) == ("größ", "did you mean größe?")


def test_tabs_are_expanded_with_a_note() -> None:
    parsed = parse_text("@R.function\r\ndef f(x):\r\n\ty = x\r\n        return z\r\n", "tabs.py")
    assert [(item.code, item.severity) for item in parsed.diagnostics] == [("PA021", "note"), ("RS001", "error")]
    assert parsed.diagnostics[1].span is not None
    assert parsed.diagnostics[1].span.text == "z"


def test_what_stands_around_a_module_is_skipped_once_per_run() -> None:
    text = (SAMPLES / "seeds" / "print_closure.py").read_text(encoding="utf-8")
    notes = [item for item in parse_text(text, "print_closure.py").diagnostics if item.severity == "note"]
    assert [item.code for item in notes] == ["PA020"]


@pytest.mark.parametrize(
    ("line", "codes"),
    [
        ("import tvm", []),
        ("from tvm.script import ir as I, relax as R", []),
        ("from typing import TypeVar", []),
        ("import tvm, os", ["PA020"]),
        ("from .tvm import mine", ["PA020"]),
    ],
)
def test_an_import_of_what_modules_are_written_with_is_no_statement_to_run(line: str, codes: list[str]) -> None:
    found = parse_text(f"{line}\n@R.function\ndef f(x: R.Tensor((2,), 'float32')):\n    return x\n", "m.py")
    assert [item.code for item in found.diagnostics] == codes


def test_nothing_of_the_text_runs(tmp_path: Path) -> None:
    target = tmp_path / "made"
    text = f"open({str(target)!r}, 'w')\n@R.function\ndef f(x=open({str(target)!r}, 'w')):\n    return x\n"
    assert places(text) == []
    assert not target.exists()


def test_a_file_may_hold_several_modules() -> None:
    text = (
        "@I.ir_module\nclass A:\n    pass\n\n@I.ir_module\nclass B:\n    pass\n\n@R.function\ndef f(x):\n    return x\n"
    )
    assert [module.name for module in parse_text(text, "several.py").modules] == ["A", "B", "Module"]


@pytest.mark.parametrize("path", sorted((SAMPLES / "errors").glob("[pr][as]_*.py")), ids=lambda path: path.stem)
def test_an_error_sample_reports_exactly_what_it_announces(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    marks = [(code, line) for line, words in enumerate(text.splitlines(), 1) for code in MARK.findall(words)]
    noted = [code for code, _ in marks]
    found = [item for item in parse_text(text, path.name).diagnostics if item.severity == "error" or item.code in noted]
    assert sorted((item.code, item.span.line) for item in found if item.span) == sorted(marks)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_mutated_samples_never_crash(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(TEXTS))
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 30)))
        piece = data.draw(st.sampled_from(FRAGMENTS) | st.text(max_size=5))
        text = text[:start] + piece + text[end:]
    parsed = parse_text(text, "mutated.py")
    for item in parsed.diagnostics:
        assert item.code in CODES
        assert item.span is not None
        assert 0 <= item.span.start <= item.span.end <= len(parsed.source.text)
    for module in parsed.modules:
        assert all(node.span is None or node.span.source is parsed.source for node in postorder(module))
        print_module(module)
