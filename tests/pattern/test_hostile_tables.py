"""Patterns and tables that are made to do harm end with a diagnostic, or are harmless."""

import json
from collections.abc import Callable

import pytest

import relax_core as rc
from relax_core.pattern.language.text import parse_pattern
from relax_core.pattern.matching.matcher import match
from relax_core.pattern.matching.work import Work
from tests.pattern.programs import main, module

ALWAYS_BOTH = "p = is_op('add')(p, is_var('none')) | is_op('add')(p, wildcard())\n"


def code_of(make: Callable[[], object]) -> str:
    with pytest.raises(rc.CompileError) as caught:
        make()
    for item in caught.value.diagnostics:
        item.render().encode()
    return caught.value.diagnostics[0].code


TEXTS = (
    ("half of a character", "is_op('\ud800')(wildcard())", "PT001"),
    ("half of a character, escaped", "is_op('\\ud800')(wildcard())", "PT003"),
    ("a NUL", "is_op('a')\0", "PT001"),
    ("a number over int64", "is_number(10)(is_number(99999999999999999999999))", "PT003"),
    ("a dtype that does not exist", "is_number(1, 'float99')", "PT003"),
    ("no number", "is_number(lambda x: x)", "PT003"),
    ("no type", "wildcard().has_type(1j)", "PT003"),
    ("an attribute of bytes", "wildcard().has_attr({'a': b'x'})", "PT003"),
    ("arguments that are a dict", "CallPattern(wildcard(), {})", "PT003"),
    ("an index that is a float", "is_tuple_get_item(wildcard(), 1.5)", "PT003"),
    ("ten thousand parts", "\n".join(["w = wildcard()"] * 11_000) + "\nw", "PT010"),
    ("brackets", "(" * 100_000, "PT001"),
)


@pytest.mark.parametrize(("text", "code"), [case[1:] for case in TEXTS], ids=[case[0] for case in TEXTS])
def test_a_hostile_pattern_is_told(text: str, code: str) -> None:
    assert code_of(lambda: parse_pattern(text)) == code


TABLES = (
    ("a key twice", '{"patterns": [], "patterns": []}'),
    ("half of a key", '{"\\ud800": []}'),
    ("half of a name", '{"patterns": [["\\ud800.b", "wildcard()"]]}'),
    ("a NUL in a name", '{"patterns": [["a\\u0000.b", "wildcard()"]]}'),
    ("a line break in a target", '{"supported": {"a\\nb": []}}'),
    ("no target", '{"patterns": [[".b", "wildcard()"]]}'),
    ("an operator that is a number", '{"supported": {"a": [1]}}'),
    ("nesting", "[" * 100_000),
    ("closed nesting", "[" * 500 + "]" * 500),
    ("an entry that is nested", '{"patterns": [' + "[" * 500 + "]" * 500 + "]}"),
    ("too many patterns", json.dumps({"patterns": [["a.b", "wildcard()"]] * 20_000})),
)


@pytest.mark.parametrize("text", [case[1] for case in TABLES], ids=[case[0] for case in TABLES])
def test_a_hostile_table_is_told(text: str) -> None:
    assert code_of(lambda: rc.read_tables(text)) == "PT005"


def test_names_with_quotes_go_through_the_text_of_a_program() -> None:
    text = json.dumps({"patterns": [["a\"'\\b.c", "is_op('add')(wildcard(), wildcard())"]]})
    stage = rc.run_pipeline(module("add(%x, %y)"), "MergeComposite", tables=rc.read_tables(text))[-1]
    assert stage.is_changed
    assert rc.structural_equal(rc.parse(rc.script(stage.after)), stage.after)


def sums(count: int) -> str:
    """Return the text of a program that doubles a value so many times."""
    lines = "".join(f"%{k + 1} = add(%{k}, %{k}); " for k in range(count))
    return f"%0 = abs(%x); {lines} %{count}"


@pytest.mark.parametrize("count", [10, 20])
def test_choices_of_choices_are_not_tried_one_by_one(count: int) -> None:
    pattern = parse_pattern(f"p = wildcard()\n{ALWAYS_BOTH * count}p")
    mod = module(sums(count))
    assert len(rc.match(pattern, mod)) == 1
    assert rc.check(rc.partition(pattern, mod)) == ()


def test_a_part_that_never_fits_is_tried_once_at_each_place() -> None:
    mod = module(sums(60))
    for text in (
        "p = is_constant()\n" + "p = is_op('add')(p, wildcard())\n" * 40,
        "p = is_var('no')\n" + "p = p + p\n" * 40,
    ):
        assert rc.partition(parse_pattern(f"{text}p"), mod) is mod


def test_a_search_of_too_many_steps_is_stopped() -> None:
    pattern = parse_pattern("dominates(is_op('exp')(wildcard()), wildcard(), wildcard())")
    body = main(module(sums(100))).body
    assert match(pattern, body) is None
    assert code_of(lambda: match(pattern, body, work=Work(left=50))) == "PT006"


def test_a_pattern_that_is_too_deep_is_told() -> None:
    mod = module("abs(%x)")
    deep = parse_pattern("p = wildcard()\n" + "p = p.has_dtype('float32')\n" * 2000 + "p")
    assert code_of(lambda: rc.match(deep, mod)) == "PT007"
    stage = rc.run_pipeline(mod, "MergeComposite", tables=rc.Tables((("a.b", deep),)))[-1]
    assert [item.code for item in stage.diagnostics] == ["PT007"]
