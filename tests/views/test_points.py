"""Breakpoints in the address of a page."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relax_core.present.running.run_models import Breakpoint
from views.pages.run.points import read, written

places = st.one_of(st.integers(1, 10**6).map(lambda n: (n, -1)), st.integers(0, 10**6).map(lambda n: (0, n)))


def breakpoint_at(place: tuple[int, int], is_on: bool, condition: str, message: str) -> Breakpoint:
    return Breakpoint(*place, is_on, condition, message)


points = st.builds(breakpoint_at, places, st.booleans(), st.text(max_size=30), st.text(max_size=30))


@given(st.lists(points, max_size=5).map(tuple))
def test_what_is_written_is_read(given_points: tuple[Breakpoint, ...]) -> None:
    assert read(written(given_points)) == given_points


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("8,@12,-9", (Breakpoint(8), Breakpoint(pc=12), Breakpoint(9, is_on=False))),
        ("8?i > 3", (Breakpoint(8, condition="i > 3"),)),
        ("-@2?f(a%2C b) == 7 %25 2", (Breakpoint(pc=2, is_on=False, condition="f(a, b) == 7 % 2"),)),
        ("@,-,3,@-1,?i,*", (Breakpoint(3),)),
        ("-*?isnan(written)", (Breakpoint(is_on=False, condition="isnan(written)"),)),
        ("8~why%3F {a%2C b}?i > 3", (Breakpoint(8, condition="i > 3", message="why? {a, b}"),)),
        ("*~x,*~x?depth > 2", (Breakpoint(condition="depth > 2", message="x"),)),
        ("", ()),
    ],
)
def test_an_address_is_read(text: str, found: tuple[Breakpoint, ...]) -> None:
    assert read(text) == found
