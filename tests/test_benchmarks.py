"""The frame of the benchmarks: tables of medians and ratios, and a runner that finds each benchmark."""

import importlib
from collections import defaultdict
from contextlib import ExitStack

import pytest

from benchmarks.__main__ import names
from benchmarks.page_sizes import table
from benchmarks.revisions import HERE, Compared, Revision, compare, files_of
from benchmarks.table import Row, Table, duration
from benchmarks.timing import measure


def test_a_table_compares_every_median_with_the_first() -> None:
    rows = (Row("numpy", (0.001, 0.002, 0.009)), Row("compiled by us", (0.003, 0.003, 0.003)))
    assert Table("Sum of 1000", rows, note="one thread").as_text().splitlines() == [
        "Sum of 1000",
        "                  median  quartiles  ratio",
        "  numpy             2 ms     +-4 ms   1.00",
        "  compiled by us    3 ms     +-0 ns   1.50",
        "one thread",
    ]


@pytest.mark.parametrize(
    ("seconds", "text"), [(2.5, "2.5 s"), (0.0123, "12.3 ms"), (4e-6, "4 us"), (1.5e-7, "150 ns"), (0.0, "0 ns")]
)
def test_a_duration_has_the_unit_that_suits_it(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_every_case_is_measured_as_often_as_the_others() -> None:
    rows = measure({"none": lambda: None, "list": lambda: [0] * 100}, sample_count=3)
    assert [(row.name, len(row.seconds)) for row in rows] == [("none", 3), ("list", 3)]


def test_what_a_user_waits_for_has_a_row_and_each_size_a_column() -> None:
    small = {"open": [0.5], "next stage, to its text": [0.2, 0.1, 0.3]}
    large = {"open": [2.0], "next stage, to its text": [1.0, 500.0, 1.5], "search": [0.02]}
    found = {count: defaultdict[str, list[float]](list, seconds) for count, seconds in ((91, small), (10011, large))}
    assert table(found).splitlines() == [
        "|  | 91 bindings | 10,011 bindings |",
        "|---|--:|--:|",
        "| open | 500 ms | 2 s |",
        "| next stage, to its text | 200 ms, at most 300 ms | 1.5 s, at most over 120 s |",
        "| search | - | 20 ms |",
    ]


@pytest.mark.parametrize("name", names())
def test_a_benchmark_can_be_run(name: str) -> None:
    assert callable(importlib.import_module(f"benchmarks.bench_{name}").run)


def test_an_operator_is_timed_at_two_revisions_in_turns() -> None:
    with ExitStack() as stack:
        before, after = Revision(stack.enter_context(files_of("HEAD"))), Revision(HERE)
        stack.callback(before.close)
        stack.callback(after.close)
        found = compare(before, after, "relu", 3)
        assert len(found.ratios) == 3
        assert min(*found.before, *found.after) > 0
        with pytest.raises(RuntimeError, match="the process ended"):
            before.ask("no operator")


def test_the_ratio_is_that_of_rounds_side_by_side() -> None:
    found = Compared("relu", (0.001, 0.002, 0.004), (0.002, 0.002, 0.002))
    assert found.ratios == (2.0, 1.0, 0.5)
    assert found.ratio == 1.0
    assert found.to_text().split()[:6] == ["relu", "2", "ms", "2", "ms", "1.000"]
