"""What repeats in a sequence is found: each copy of a body, and nothing that only looks like one."""

from hypothesis import given
from hypothesis import strategies as st

from relax_core.analysis.layers.repeats import OUTSIDE, SHORTEST, Repeat, find_repeats
from tests.counting import lines_of

Item = tuple[str, tuple[int, ...]]
"""A label, and how far back each item is that it uses; 0 stands for an item before all copies."""


@st.composite
def bodies(draw: st.DrawFn) -> list[Item]:
    """Make a body of items of different kinds, of which the first uses the last one of the copy before."""
    length = draw(st.integers(SHORTEST, 9))
    kinds = draw(st.permutations([f"k{number}" for number in range(length)]))
    body: list[Item] = [(kinds[0], (1,))]
    for place in range(1, length):
        body.append((kinds[place], (1, *draw(st.lists(st.integers(0, place), max_size=2)))))
    return body


def sequence(head: int, body: list[Item], count: int, tail: int) -> tuple[list[str], list[list[int]]]:
    """Write a body several times, between items that have labels of their own."""
    labels = [f"head{number}" for number in range(head)]
    uses: list[list[int]] = [[number - 1] if number else [] for number in range(head)]
    for _ in range(count):
        for label, back in body:
            uses.append([len(labels) - by if by else 0 for by in back])
            labels.append(label)
    for number in range(tail):
        uses.append([len(labels) - 1])
        labels.append(f"tail{number}")
    return labels, uses


@given(bodies(), st.integers(1, 4), st.integers(3, 7), st.integers(0, 3))
def test_a_body_that_is_written_several_times_is_found(body: list[Item], head: int, count: int, tail: int) -> None:
    assert find_repeats(*sequence(head, body, count, tail)) == (Repeat(head, len(body), count),)


@given(bodies(), st.integers(1, 3))
def test_different_bodies_are_no_repeat(body: list[Item], head: int) -> None:
    labels, uses = sequence(head, body, 5, 0)
    assert find_repeats([f"{label} {number // len(body)}" for number, label in enumerate(labels)], uses) == ()


@given(bodies(), st.integers(3, 5), st.integers(3, 5), st.data())
def test_a_copy_that_uses_something_else_follows_no_equal_one(
    body: list[Item], before: int, behind: int, data: st.DataObject
) -> None:
    labels, uses = sequence(2, body, before + 1 + behind, 1)
    at = 2 + before * len(body) + data.draw(st.integers(1, len(body) - 1))
    uses[at] = [1, *uses[at][1:]]
    found = find_repeats(labels, uses)
    # It may be in a first copy, of which it reads what stands before all copies.
    assert all(not item.start + item.length <= at < item.end for item in found)
    assert any(item.length == len(body) for item in found)


@given(st.integers(3, 40))
def test_a_chain_of_one_operator_has_no_layers(count: int) -> None:
    assert find_repeats(["add"] * count, [[number - 1] if number else [] for number in range(count)]) == ()


def test_repeats_behind_one_another_are_found_apart() -> None:
    one, two = [("a", (1,)), ("b", (1,)), ("c", (1,)), ("d", (1,))], [(kind, (1,)) for kind in "efghi"]
    labels, uses = sequence(1, one, 6, 2)
    for _ in range(4):
        for label, back in two:
            uses.append([len(labels) - by for by in back])
            labels.append(label)
    assert find_repeats(labels, uses) == (Repeat(1, 4, 6), Repeat(27, 5, 4))


def test_the_time_is_linear_in_the_number_of_copies() -> None:
    body: list[Item] = [(f"k{number}", (1, number)) for number in range(20)]

    def cost(count: int) -> int:
        given = sequence(3, body, count, 2)
        return lines_of(lambda: find_repeats(*given))

    assert cost(320) / cost(80) < 5


def test_of_cuts_that_are_as_good_one_is_made_where_the_number_of_the_weights_changes() -> None:
    body = ["conv", "bias", "add", "norm", "silu"]
    labels = ["wide conv", *(body * 6)[1:]]
    uses = [[OUTSIDE], *([place] for place in range(len(labels) - 1))]
    numbers = [str(place // len(body)) for place in range(len(labels))]
    assert find_repeats(labels, uses) == (Repeat(1, 5, 5),)
    assert find_repeats(labels, uses, numbers) == (Repeat(5, 5, 5),)


def test_the_first_copy_may_take_from_outside_what_others_take_of_the_copy_before() -> None:
    labels = ["transpose", "matmul", "add", "relu"] * 4
    uses = [[OUTSIDE], [OUTSIDE, 0], [1, OUTSIDE], [2]]
    for _ in range(3):
        at = len(uses)
        uses += [[OUTSIDE], [at - 1, at], [at + 1, OUTSIDE], [at + 2]]
    assert find_repeats(labels, uses) == (Repeat(0, 4, 4),)
    uses[9] = [OUTSIDE, 8]
    assert find_repeats(labels, uses) != (Repeat(0, 4, 4),)
