"""Texts side by side."""

from hypothesis import given, strategies

from relax_core.present.diffs.diff import diff_texts, line_counts
from relax_core.present.models import Diff

LINES = strategies.lists(strategies.sampled_from(["a = 1", "b = a", "c = b + a", "", "return c"]), max_size=12)


def _column(diff: Diff, *, is_before: bool) -> str:
    sides = [row.before if is_before else row.after for row in diff.rows]
    return "\n".join(side.text for side in sides if side is not None)


@given(LINES, LINES)
def test_each_side_spells_its_text(before: list[str], after: list[str]) -> None:
    diff = diff_texts("a", "\n".join(before) + "\n", "b", "\n".join(after) + "\n")
    assert _column(diff, is_before=True) == "\n".join(before)
    assert _column(diff, is_before=False) == "\n".join(after)
    for side in ("before", "after"):
        numbers = [getattr(row, side).number for row in diff.rows if getattr(row, side) is not None]
        assert numbers == list(range(1, len(numbers) + 1))


def test_a_changed_line_marks_the_words_that_differ() -> None:
    row = diff_texts("a", "y = f(x, 1)\n", "b", "y = f(x, 2)\n").rows[0]
    assert row.before is not None
    assert row.after is not None
    assert row.before.mark == row.after.mark == "changed"
    assert [row.before.text[first:last] for first, last in row.before.differing] == ["1"]
    assert [row.after.text[first:last] for first, last in row.after.differing] == ["2"]


def test_long_unchanged_runs_fold() -> None:
    text = "".join(f"v{number} = x\n" for number in range(60))
    diff = diff_texts("a", text, "b", text.replace("v30 = x", "v30 = y"))
    assert [(fold.first, fold.count) for fold in diff.folds] == [(0, 27), (34, 26)]
    assert all(
        row.before is not None and row.before.mark == "unchanged"
        for fold in diff.folds
        for row in diff.rows[fold.first : fold.first + fold.count]
    )


def test_equal_texts_are_unchanged_and_not_folded() -> None:
    text = "x\n" * 40
    diff = diff_texts("a", text, "b", text)
    assert diff.is_unchanged
    assert diff.folds == ()


def test_counts_are_of_lines() -> None:
    assert line_counts("a\nb\n", "a\nc\nd\n") == (2, 1)


def test_lines_that_define_one_name_stand_beside_each_other_however_unlike_they_are() -> None:
    before = "def main(x):\n    lv: T = R.matmul(x, w)\n    lv1: T = R.nn.relu(lv)\n    return lv1\n"
    after = (
        "def main(x):\n    alloc: T = R.builtin.alloc_tensor(R.shape([4, 6]))\n    cls.matmul(x, w, alloc)\n"
        "    lv: T = alloc\n    cls.relu(lv, alloc)\n    lv1: T = alloc\n    return lv1\n"
    )
    rows = diff_texts("a", before, "b", after).rows
    pairs = [(row.before.number, row.after.number) for row in rows if row.before is not None and row.after is not None]
    assert pairs == [(1, 1), (2, 4), (3, 6), (4, 7)]


def test_lines_that_define_nothing_are_not_paired_by_their_numbers() -> None:
    rows = diff_texts("a", "a = 1\ncls.first(x)\nb = 2\n", "b", "a = 3\n1 + 2 + 3 + 4\nb = 4\n").rows
    assert [(row.before is None, row.after is None) for row in rows] == [
        (False, False), (False, True), (True, False), (False, False),
    ]  # fmt: skip
