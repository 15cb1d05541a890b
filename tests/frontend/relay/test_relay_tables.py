"""Texts of `tables/`: each sound one is read, typed, printed and read back; each ill-formed one is refused."""

from pathlib import Path

import pytest

from relax_core.check.infer import infer
from relax_core.check.text import check_text
from relax_core.diagnostics import Diagnostic
from relax_core.frontend.parse import Parsed, parse_text
from relax_core.frontend.relay.detect import is_relay
from relax_core.ir.equality import structural_equal
from relax_core.ir.expr import Function
from relax_core.ops.relay.show import show_type
from relax_core.printer.relay_text.module import print_relay

TABLES = Path(__file__).with_name("tables")
Row = tuple[str, str, str]


def lines() -> list[Row]:
    """Read `parameters | expression => type`, one a line."""
    rows: list[Row] = []
    for line in (TABLES / "expressions.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            head, _, expected = line.rpartition(" => ")
            params, _, expression = head.partition("| ")
            rows.append((params.strip(), expression, expected))
    return rows


def entries(name: str) -> list[tuple[str, str]]:
    """Read texts below titles, `## title`."""
    parts = (TABLES / name).read_text(encoding="utf-8").split("\n## ")
    return [(title.removeprefix("## "), text) for title, _, text in (part.partition("\n") for part in parts)]


def errors(parsed: Parsed) -> list[Diagnostic]:
    """Return what is wrong besides constants whose data is elsewhere: the tables leave metadata sections out."""
    found = (*parsed.diagnostics, *check_text(parsed))
    return [item for item in found if item.severity == "error" and item.code != "WF025"]


def assert_survives(parsed: Parsed) -> None:
    (module,) = parsed.modules
    text = print_relay(module).text
    again = parse_text(text, "again.relay")
    assert again.modules, text
    assert structural_equal(module, again.modules[0]), text
    assert print_relay(again.modules[0]).text == text


@pytest.mark.parametrize(("params", "expression", "expected"), [row for row in lines() if row[2] != "error"])
def test_an_expression_has_its_type_and_survives_printing(params: str, expression: str, expected: str) -> None:
    parsed = parse_text(f'#[version = "0.0.5"]\ndef @main({params}) {{\n{expression}\n}}\n', "m.relay")
    assert errors(parsed) == []
    (module,) = parsed.modules
    function = module["main"]
    assert isinstance(function, Function)
    whole = show_type(infer(module).types[function])
    assert whole.endswith(f"-> {expected}")
    assert_survives(parsed)


@pytest.mark.parametrize(("params", "expression", "expected"), [row for row in lines() if row[2] == "error"])
def test_an_expression_that_is_none_is_refused(params: str, expression: str, expected: str) -> None:
    assert errors(parse_text(f"def @main({params}) {{\n{expression}\n}}\n", "m.relay"))[0].severity == expected


@pytest.mark.parametrize(("title", "text"), entries("programs.txt"), ids=lambda item: str(item)[:40])
def test_a_program_is_sound_and_survives_printing(title: str, text: str) -> None:
    parsed = parse_text(text, "m.relay")
    assert errors(parsed) == [], title
    assert is_relay(text, "pasted") or title == "an expression alone"
    assert_survives(parsed)


@pytest.mark.parametrize(("title", "text"), entries("ill_formed.txt"), ids=lambda item: str(item)[:40])
def test_an_ill_formed_text_is_refused_once(title: str, text: str) -> None:
    found = errors(parse_text(text, "m.relay"))
    assert [item.code for item in found] == [title[:5]]
    assert found[0].span is not None
