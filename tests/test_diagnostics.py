"""Diagnostics as text: the line with carets, and the further places."""

import pytest

from relax_core.diagnostics import Diagnostic
from relax_core.present.models import Elsewhere
from relax_core.present.problems import problem_of
from relax_core.source import Source, Span, excerpt

LONG = f"{'a' * 300}WRONG{'b' * 300}"


def test_a_short_line_is_shown_whole() -> None:
    assert excerpt(Span(Source("m.py", "x = y\n"), 4, 5)) == "x = y\n    ^"


@pytest.mark.parametrize("at", [0, 10, 300, 590], ids=lambda at: f"at {at}")
def test_of_a_long_line_the_place_is_shown(at: int) -> None:
    text, carets = excerpt(Span(Source("m.py", LONG), at, at + 5)).split("\n")
    start = carets.index("^")
    assert text[start : start + carets.count("^")] == LONG[at : at + 5]
    assert len(text) <= 166


def test_a_blank_line_is_not_shown() -> None:
    assert (
        Diagnostic("PA015", "nothing", Span(Source("m.py", "\n"), 0, 0)).render() == "m.py:1:1: error[PA015]: nothing"
    )


def test_further_places_are_printed_and_presented() -> None:
    source = Source("m.py", "x = 1\ny = z\n")
    said = Diagnostic("RS001", "no z", Span(source, 10, 11), related=(("x is here", Span(source, 0, 1)),))
    assert said.render().endswith("\nsee: m.py:1:1: x is here")
    assert problem_of(said).related == (Elsewhere("x is here", 1, 1),)
