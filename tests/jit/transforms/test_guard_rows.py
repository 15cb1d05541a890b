"""Rows that are added up side by side: sums, violations and what is written before one are as in the naive lowering."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relax_core.jit.engine import Engine
from relax_core.jit.options import KernelOptions
from tests.jit.programs import parsed
from tests.jit.transforms.nests import WIDTHS, Array, applied, assert_alike

ENGINES = {width: Engine(options=KernelOptions(vector_bits=width, threads=1)) for width in WIDTHS}
HEAD = """def main(table: T.handle, index: T.handle, weight: T.handle, out: T.handle, more: T.handle):
    n, k, m = T.int64(), T.int64(), T.int64()
    Table = T.match_buffer(table, (m,), "float32")
    Index = T.match_buffer(index, (n, k), "{dtype}")
    Weight = T.match_buffer(weight, (n, k), "float32")
    Out = T.match_buffer(out, (n,), "float32")
    More = T.match_buffer(more, (n,), "float64")
"""
TAKEN = {
    "sums": """
    for i in range(n):
        Out[i] = T.float32(0)
        for j in range(k):
            Out[i] = Out[i] + Table[Index[i, j]]
""",
    "sums of blocks": """
    for i, j in T.grid(n, k):
        with T.sblock("sum"):
            y, x = T.axis.remap("SR", [i, j])
            with T.init():
                Out[y] = T.float32(1)
            Out[y] = Out[y] + Table[Index[y, x]] * Weight[y, x]
""",
    "two sums": """
    for i in range(n):
        for j in range(k):
            Out[i] = Out[i] * Weight[i, j] + Table[Index[i, j]]
            More[i] = More[i] + T.Cast("float64", Out[i])
""",
    "means": """
    for i in range(1, n):
        More[i] = T.float64(0)
        for j in range(1, k):
            More[i] = More[i] + T.Cast("float64", Table[Index[i, j]])
        More[i] = More[i] * T.float64(0.5)
        Out[i] = T.Cast("float32", More[i]) + T.Cast("float32", i)
""",
    "the greatest": """
    for i in range(n):
        for j in range(k):
            Out[i] = T.max(Out[i], Table[Index[i, j]])
""",
}
LEFT = {
    "a sum of sums": """
    for i in range(n):
        for j in range(k):
            Out[i] = Out[i] + Table[Index[i, j]] * Out[0]
""",
    "sums that go on in the next row": """
    for i in range(n - 1):
        for j in range(k):
            Out[i + 1] = Out[i + 1] + Table[Index[i, j]] + Out[i]
""",
    "one sum of all rows": """
    for i in range(n):
        for j in range(k):
            Out[0] = Out[0] + Table[Index[i, j]]
""",
    "a sum at a place that is data": """
    for i in range(n):
        for j in range(k):
            Out[Index[i, 0]] = Out[Index[i, 0]] + Table[Index[i, j]]
""",
    "sums of some elements": """
    for i in range(n):
        for j in range(k):
            Out[i] = Out[i] + T.if_then_else(Weight[i, j] > T.float32(0), Table[Index[i, j]], T.float32(0))
""",
    "the last place of all": """
    for i in range(n):
        for j in range(k):
            Out[i] = Out[i] + Table[Index[i, j]]
            More[0] = T.Cast("float64", i)
""",
    "a division": """
    for i in range(n):
        for j in range(k):
            Out[i] = Out[i] + Table[Index[i, j]] * T.Cast("float32", i // (n - T.int64(41)))
""",
}
DTYPES = ("int64", "int32", "uint8")
SHAPES = st.sampled_from(((16, 33), (19, 64), (40, 33), (17, 130), (41, 40), (15, 64)))
# There are 9 elements: what is just in range, and what just is not.
WRONG = st.sampled_from((0, 8, 9, -1, -9, 255, 1 << 31, -(1 << 31), 1 << 62))
FUNCTIONS = {
    (name, dtype): parsed(HEAD.format(dtype=dtype) + body) for name, body in (TAKEN | LEFT).items() for dtype in DTYPES
}


def arrays_of(seed: int, shape: tuple[int, int], dtype: str, wrong: list[int]) -> list[Array]:
    """Make arguments with `wrong` indices at random places."""
    random, count = np.random.default_rng(seed), 9
    index = random.integers(0, count, shape).astype(dtype)
    for value in wrong:
        index[random.integers(shape[0]), random.integers(shape[1])] = np.int64(value).astype(dtype)
    floats = [random.standard_normal(size).astype("float32") for size in (count, shape, shape[0])]
    return [floats[0], index, floats[1], floats[2], random.standard_normal(shape[0])]


def how(name: str, dtype: str) -> str:
    """Return what was said of looking ahead, for 40 rows of 64 values."""
    engine, function = ENGINES[512], FUNCTIONS[name, dtype]
    engine.kernel(function, "f")(*arrays_of(0, (40, 64), dtype, []))
    return applied(function, engine).get("guard", "")


@pytest.mark.parametrize("name", TAKEN | LEFT)
@settings(max_examples=12, deadline=None)
@given(SHAPES, st.sampled_from(DTYPES), st.lists(WRONG, max_size=2), st.integers(0, 99), st.sampled_from(WIDTHS))
def test_all_is_as_in_the_naive_lowering(
    name: str, shape: tuple[int, int], dtype: str, wrong: list[int], seed: int, width: int
) -> None:
    arrays = arrays_of(seed, shape, dtype, wrong)
    assert_alike(ENGINES[width], FUNCTIONS[name, dtype], arrays, is_generic=False)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", TAKEN)
def test_rows_are_added_up_side_by_side(name: str, dtype: str) -> None:
    reason = "applied: indices of `Table` are checked ahead, for many rounds at once; 4 rows are added up side by side"
    assert how(name, dtype) == reason


@pytest.mark.parametrize("name", LEFT)
def test_rows_that_meet_are_added_up_one_after_the_other(name: str) -> None:
    assert "side by side" not in how(name, "int64")


@pytest.mark.parametrize("row", [0, 3, 4, 15, 16, 18])
@pytest.mark.parametrize("name", ["sums", "two sums"])
def test_a_violation_in_any_of_the_rows_is_told_in_its_place(name: str, row: int) -> None:
    for column in (0, 32, 63):
        arrays = arrays_of(0, (19, 64), "int64", [])
        arrays[1][row, column] = 9
        assert_alike(ENGINES[512], FUNCTIONS[name, "int64"], arrays, is_generic=False)
