"""Lines compared by pattern come out as they do when each pair is compared for itself."""

from hypothesis import given
from hypothesis import strategies as st

from relax_core.present.diffs.likeness import Likeness

WORDS = st.lists(st.sampled_from(["lv", "lv1", "=", "(", ")", ",", "R", "matmul"]), max_size=14)
PAIRS = st.lists(st.tuples(WORDS, WORDS), max_size=6)


@given(PAIRS)
def test_what_differs_is_what_is_left_out_of_equal_rests(pairs: list[tuple[list[str], list[str]]]) -> None:
    likeness = Likeness()
    for left, right in [*pairs, *pairs]:
        a, b = likeness.differing(left, right)
        kept = [item for place, item in enumerate(left) if place not in a]
        assert kept == [item for place, item in enumerate(right) if place not in b]
        assert (a, b) == Likeness().differing(left, right)
        assert bool(kept) == bool({*left} & {*right})


@given(PAIRS)
def test_the_share_is_that_of_the_pair_alone(pairs: list[tuple[list[str], list[str]]]) -> None:
    likeness = Likeness()
    for left, right in [*pairs, *pairs]:
        if not left and not right:
            continue
        share = likeness.share(left, right)
        assert share == Likeness().share(left, right)
        assert 0 <= share <= 1
        assert (share == 1) == (left == right)


def test_pairs_of_one_pattern_are_compared_once() -> None:
    likeness = Likeness()
    assert likeness.differing(["lv1", "=", "add", "lv0"], ["lv1", "=", "call", "add", "lv0"]) == (
        frozenset(),
        frozenset({2}),
    )
    first = likeness.differing(["a", "b", "c"], ["a", "x", "c"])
    assert likeness.differing(["lv", "y", "z"], ["lv", "w", "z"]) is first
