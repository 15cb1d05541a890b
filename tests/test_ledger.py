"""The ledger of constructs: no step has fewer constructs than before, and every refusal names what it refuses."""

from functools import cache

import pytest

from benchmarks.ledger import STEPS, ConstructOutcome, Entry, counts, entries, framed, measure
from tests.golden_text import GOLDEN, Golden

NAME = "ledger.txt"
LEAST_ENTRIES = 250


@cache
def outcomes() -> tuple[ConstructOutcome, ...]:
    return tuple(map(measure, entries()))


def summary() -> dict[str, tuple[int, ...]]:
    return {item.name: (item.total, *item.passed) for item in counts(outcomes())}


def test_every_refusal_names_a_part_of_the_program() -> None:
    assert [(item.entry.name, item.refusals) for item in outcomes() if not item.is_sound] == []


def test_the_ledger_is_large_and_its_names_are_distinct() -> None:
    names = [(item.section, item.name) for item in entries()]
    assert len(names) == len(set(names))
    assert len(names) >= LEAST_ENTRIES


def test_no_count_is_smaller_than_the_golden_one(golden: Golden) -> None:
    found = summary()
    if golden.is_updating:
        lines = [f"{name}: {' '.join(map(str, numbers))}" for name, numbers in found.items()]
        golden.check(NAME, "\n".join([f"constructs {' '.join(STEPS)}", *lines]))
    for line in (GOLDEN / NAME).read_text(encoding="utf-8").splitlines()[1:]:
        name, _, numbers = line.rpartition(": ")
        expected = tuple(map(int, numbers.split()))
        pairs = zip(found[name], expected, strict=True)
        assert all(here >= there for here, there in pairs), (name, found[name], expected)


@pytest.mark.parametrize(
    ("text", "named"),
    [("x = R.matmull(y)", True), ("class", False)],
    ids=["a misspelled operator is named", "a broken text is not"],
)
def test_a_refusal_is_told_from_a_shrug(text: str, named: bool) -> None:
    frame = "@R.function\ndef main(y: R.Tensor((2,))):\n    {}\n    return y\n"
    outcome = measure(Entry("", "C", "", framed(frame, text), 0, 0))
    assert outcome.passed == frozenset()
    assert outcome.is_sound == named
