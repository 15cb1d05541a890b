"""Broken Relay text: many errors in one go, no follow-on errors, and never an exception."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from relax_core.diagnostics import has_errors
from relax_core.frontend.parse import parse_text

REPOSITORY = Path(__file__).parents[3]
TEXTS = [path.read_text(encoding="utf-8") for path in sorted((REPOSITORY / "samples" / "relay").glob("*.relay"))]
WORDS = (
    "let %x = ; %0 ( ) { } [ ] , def @f fn if else match match? type T | => -> 1 1.5f -1 True @g add : int32 "
    'Tensor[(2,?),float32] ... /* */ // " meta[relay.Constant][0] #[metadata] #[version free_var ref _ <cpu(0)> . .0 '
    "Cons Nil List[A] extern nn. \n \0 % @ # é"
)
PIECES = st.sampled_from(WORDS.split(" "))


def codes(text: str) -> list[str]:
    return [item.code for item in parse_text(text, "m.relay").diagnostics if item.severity == "error"]


def test_ten_errors_in_one_go() -> None:
    bad = "".join(f"  let %v{index} = add(%v{index - 1} 1);\n" for index in range(1, 11))
    assert codes(f"def @main(%v0: int32) {{\n{bad}  (%v1, %v10)\n}}") == ["RL001"] * 10


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def @main() { let %x = ; add(%x, %x) }", ["RL001"]),
        ("def @main() { %0 = ; add(%0, %0) }", ["RL001"]),
        ("def @main() { add(%x, %x) }", ["RL004"]),
        ("def @main() { add(%0, %0) }", ["RL005"]),
        ("def @main() { @manin(); @manin() }", ["RL006"]),
        ("def @main(%x: Foo, %y: Foo) { %x }", ["RL008"]),
        ("def @main( { 1 } def @g() { let }", ["RL001", "RL001"]),
        ("def @main() { { 1 } def @g() { @main() }", ["RL001"]),
        ("def @main() { 1 ) } def @g() { @main() }", ["RL001"]),
        ("def @main() { if (True) { let } else { let } }", ["RL001", "RL001"]),
        ("type T { A(, B } def @main(%t: T) { match (%t) { A => 1 } }", ["RL001", "RL007"]),
    ],
)
def test_an_error_has_no_followers(text: str, expected: list[str]) -> None:
    assert codes(text) == expected


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("def @main(%data: int32) { %dta }", "did you mean %data?"),
        ("def @main() { nn.conv2D(1, 2) }", "did you mean nn.conv2d?"),
        ("def @main() { @mpa(1, 2) }", "did you mean @map?"),
        ("def @main() { Conss(1, Nil) }", "did you mean Cons?"),
        ("def @main(%x: flaot32) { %x }", "did you mean float32?"),
        ("def @main(%x: Opton[int32]) { %x }", "did you mean Option?"),
    ],
)
def test_a_misspelled_name_has_a_suggestion(text: str, hint: str) -> None:
    (diagnostic,) = parse_text(text, "m.relay").diagnostics
    assert diagnostic.hint == hint


DEEP = {
    "nothing but openings": ("(" * 5000, {"RL003"}),
    "parentheses": ("def @main() { " + "(" * 5000 + "1" + ")" * 5000 + " }", {"RL003"}),
    "braces": ("def @main() { " + "{" * 5000 + "1" + "}" * 5000 + " }", {"RL003"}),
    "calls": ("def @main() { " + "abs(" * 5000 + "1" + ")" * 5000 + " }", {"RL003"}),
    "conditionals": ("def @main() { " + "if (True) { 1 } else " * 5000 + "{ 1 } }", {"RL003"}),
    "a type": ("def @main(%x: " + "(" * 5000 + ") { 1 }", {"RL003"}),
    "an attribute": ("def @main() { add(1, axis=" + "[" * 5000 + ") }", {"RL003"}),
    "a pattern": ("def @main() { match (1) { " + "(" * 5000 + " }", {"RL003", "RL001"}),
    "functions": ("def @main() { " + "fn () { " * 5000 + "1" + "}" * 5000 + " }", {"RL003"}),
    "sequences": ("def @main() { " + "(1; " * 5000 + "1" + ")" * 5000 + " }", {"RL003", "RL014"}),
    "lets without values": ("def @main() { " + "(let %x = " * 5000, {"RL001"}),
    "a comment that holds openings": ("def @main() { 1 /* ty=" + "(" * 5000 + " */ }", set[str]()),
    "comments": ("/* " * 5000, {"RL002"}),
    "digits": ("1" * 5000, {"RL009"}),
    "signs": ("- " * 5000 + "1", set[str]()),
}


@pytest.mark.parametrize(("text", "expected"), DEEP.values(), ids=DEEP)
def test_deep_nesting_is_a_diagnostic(text: str, expected: set[str]) -> None:
    assert set(codes(text)) == expected


def test_long_chains_are_not_deep() -> None:
    assert codes("def @main(%x: int32) { %x" + " + %x * 2" * 5000 + " }") == []
    assert codes("def @main(%x: int32) { %x" + "; %x" * 5000 + " }") == []


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.one_of(st.text(max_size=200), st.binary(max_size=200).map(lambda data: data.decode("latin-1"))))
def test_any_text_is_survived(text: str) -> None:
    parse_text(text, "m.relay")


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(PIECES, max_size=40))
def test_any_words_are_survived(words: list[str]) -> None:
    text = " ".join(words)
    parsed = parse_text(text, "m.relay")
    assert all(item.span is not None and item.span.end <= len(parsed.source.text) for item in parsed.diagnostics)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_any_mutation_is_survived(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(TEXTS))
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 30)))
    middle = data.draw(st.one_of(st.just(""), PIECES, st.text(max_size=3)))
    parse_text(text[:start] + middle + text[end:], "m.relay")


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_a_text_cut_at_any_line_is_survived(text: str) -> None:
    lines = text.split("\n")
    for count in range(len(lines)):
        parsed = parse_text("\n".join(lines[:count]), "m.relay")
        assert parsed.modules or has_errors(parsed.diagnostics)


def test_many_mistakes_of_one_line_are_a_few() -> None:
    assert codes("def @main(%x: int32) -> int32 {\n  " + "(1; " * 5000 + "\n}") == ["RL001"] * 6


def test_a_name_that_nothing_defines_is_not_suggested_for_another() -> None:
    text = "def @main(%some: int32) -> int32 {\n  %other1;\n  %other2;\n  %sone\n}"
    hints = [item.hint for item in parse_text(text, "m.relay").diagnostics if item.code == "RL004"]
    assert hints == ["", "", "did you mean %some?"]
