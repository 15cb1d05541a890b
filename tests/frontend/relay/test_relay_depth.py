"""Nesting: as deep as any program needs, and a diagnostic behind that."""

import sys

import pytest

from relax_core.check.check import check
from relax_core.frontend.parse import parse_text
from relax_core.frontend.relay.lexer.cursor import MAX_DEPTH, MAX_PART_DEPTH
from relax_core.ir.equality import structural_equal
from relax_core.printer.relay_text.module import print_relay

NESTED = {
    "calls": ("abs(", "%x", ")"),
    "parentheses": ("(", "%x", ")"),
    "tuples": ("(", "%x", ",)"),
    "references": ("ref(", "%x", ")"),
    "conditionals": ("if (%c) { ", "%x", " } else { %x }"),
    "else-if": ("if (%c) { %x } else ", "{ %x }", ""),
    "functions": ("fn () { ", "%x", " }"),
    "blocks": ("{ let %a = 1; ", "%x", " }"),
    "lets in lets": ("let %y = { ", "%x", " }; %y"),
    "matches": ("match (%c) { _ => ", "%x", " }"),
    "operands": ("%x * (%x + ", "%x", ")"),
}


@pytest.mark.parametrize("name", NESTED)
def test_a_deeply_nested_program_is_read_checked_and_printed(name: str) -> None:
    before, inside, behind = NESTED[name]
    count = 1000
    text = f"def @main(%x: int32, %c: bool) {{ {before * count}{inside}{behind * count} }}"
    limit = sys.getrecursionlimit()
    parsed = parse_text(text, "m.relay")
    (module,) = parsed.modules
    assert [item.code for item in (*parsed.diagnostics, *check(module)) if item.severity == "error"] == []
    again = parse_text(print_relay(module).text, "m.relay")
    assert structural_equal(module, again.modules[0])
    assert sys.getrecursionlimit() == limit


@pytest.mark.parametrize("name", NESTED)
def test_what_is_nested_still_deeper_is_told(name: str) -> None:
    before, inside, behind = NESTED[name]
    count = 2 * MAX_DEPTH
    parsed = parse_text(f"def @main(%x: int32, %c: bool) {{ {before * count}{inside}{behind * count} }}", "m.relay")
    assert {item.code for item in parsed.diagnostics} == {"RL003"}


@pytest.mark.parametrize(
    "text",
    [
        "def @main(%x: {}int32{}) {{ 1 }}".format("(" * MAX_PART_DEPTH, ",)" * MAX_PART_DEPTH),
        "def @main(%x: int32) {{ nn.softmax(%x, axis={}1{}) }}".format("[" * MAX_PART_DEPTH, "]" * MAX_PART_DEPTH),
        "def @main(%x: int32) {{ match (%x) {{ {}_{} => 1 }} }}".format("(" * MAX_PART_DEPTH, ")" * MAX_PART_DEPTH),
    ],
    ids=["types", "attributes", "patterns"],
)
def test_types_attributes_and_patterns_have_a_lower_bound(text: str) -> None:
    assert [item.code for item in parse_text(text, "m.relay").diagnostics] == ["RL003"]
