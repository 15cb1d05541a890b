"""Indices that are checked ahead: values, violations and what is written before one are as in the naive lowering."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relax_core.ir.tir import PrimFunc
from relax_core.jit.engine import Engine
from relax_core.jit.options import KernelOptions
from tests.jit.programs import parsed
from tests.jit.transforms.nests import WIDTHS, Array, applied, assert_alike, outcome

ENGINES = {width: Engine(options=KernelOptions(vector_bits=width, threads=1)) for width in WIDTHS}
ENGINE = ENGINES[512]
HEAD = """def main(table: T.handle, index: T.handle, other: T.handle, out: T.handle):
    n, m, k = T.int64(), T.int64(), T.int64()
    Table = T.match_buffer(table, (m, k), "float32")
    Index = T.match_buffer(index, (n, k), "{dtype}")
    Other = T.match_buffer(other, (n,), "int64")
    Out = T.match_buffer(out, (n, k), "float32")
"""
BODIES = {
    "rows": """
    for i, j in T.grid(n, k):
        Out[i, j] = Table[Other[i], j]
""",
    "elements": """
    for i, j in T.grid(n, k):
        Out[i, j] = Table[Index[i, j], j]
""",
    "elements, counted from the end": """
    for i, j in T.grid(n, k):
        with T.sblock("T_gather"):
            a, b = T.axis.remap("SS", [i, j])
            at = T.meta_var(T.if_then_else(Index[a, b] < 0, Index[a, b] + rows, Index[a, b]))
            Out[a, b] = Table[at, b]
""",
    "elements, counted from the end of another index": """
    for i, j in T.grid(n, k):
        at = T.meta_var(T.if_then_else(Other[i] < T.int64(0), Index[i, j] + m, Index[i, j]))
        Out[i, j] = Table[at, j]
""",
    "rows, counted from the end": """
    for i, j in T.grid(n, k):
        Out[i, j] = Table[T.if_then_else(Other[i] < T.int64(0), Other[i] + m, Other[i]), j]
""",
    "two indices": """
    for i, j in T.grid(n, k):
        Out[i, j] = Table[Index[i, j], Other[i]]
""",
    "a store": """
    for i, j in T.grid(n, k):
        Out[Index[i, j], j] = Table[0, j] + T.Cast("float32", i)
""",
    "a store with a sum": """
    for i, j in T.grid(n, k):
        Out[Index[i, j], j] = Out[Index[i, j], j] + Table[Other[i], j]
""",
    "sums": """
    for i in range(n):
        Out[i, 0] = T.float32(0)
        for j in range(k):
            Out[i, 0] = Out[i, 0] + Table[Index[i, j], j]
""",
    "an index behind an index": """
    for i, j in T.grid(n, k):
        Out[i, j] = Table[Index[Other[i], j], j]
""",
    "a choice": """
    for i, j in T.grid(n, k):
        Out[i, j] = T.if_then_else(Index[i, j] < m and 0 <= Index[i, j], Table[Index[i, j], j], T.float32(-1))
""",
    "a choice by another index": """
    for i, j in T.grid(n, k):
        Out[i, j] = T.if_then_else(Other[i] < m, Table[Index[i, j], j], T.float32(-1))
""",
    "a condition": """
    for i, j in T.grid(n, k):
        if Other[i] != 2:
            Out[i, j] = Table[Index[i, j], j]
        else:
            Out[i, j] = T.float32(2)
""",
    "several statements": """
    for i in range(n):
        Out[i, 0] = Table[Other[i], 0]
        for j in range(k):
            Out[i, j] = Out[i, 0] + Table[Index[i, j], j]
""",
    "a bound index": """
    for i in range(n):
        at: T.let[T.int64] = Other[i]
        for j in range(k):
            Out[i, j] = Table[at, j]
""",
    "added elements": """
    for i, j in T.grid(n, k):
        Out[i, j] = Out[i, j] + Table[Index[i, j], j]
""",
    "added elements, counted from the end": """
    for i, j in T.grid(n, k):
        at = T.meta_var(T.if_then_else(Index[i, j] < 0, Index[i, j] + rows, Index[i, j]))
        Out[i, j] = Out[i, j] + Table[at, j]
""",
    "a store at pairs": """
    for i in range(n):
        for j in range(k // 2):
            Out[Index[i, j * 2], Index[i, j * 2 + 1]] = T.Cast("float32", i + j)
""",
    "pairs in one row": """
    for j in range(k // 2):
        Out[Index[0, j * 2 + 1], Index[0, j * 2]] = Out[Index[0, j * 2], Index[0, j * 2]] + T.float32(1)
""",
    "short rows": """
    for i in range(n):
        for j in range(3):
            Out[i, 0] = Out[i, 0] + Table[Index[i, 0], j % k]
""",
    "a part of a row": """
    for i in range(n):
        for j in range(k):
            Out[i, j] = Out[i, j] + Table[0, Other[i] // 9 + j]
""",
    "a part of a row by narrow numbers": """
    for i in range(n):
        for j in range(k):
            with T.sblock("part"):
                y, x = T.axis.remap("SS", [i, j])
                Out[y, x] = Out[y, x] + Table[0, T.Cast("int32", Other[y]) // 9 + T.Cast("int32", x)]
""",
    "every third of a part": """
    for i in range(n):
        for j in range(k // 3):
            Out[i, j] = Out[i, j] + Table[0, Other[i] // 9 + j * 3]
""",
    "a part backwards": """
    for i in range(n):
        for j in range(k):
            Out[i, j] = Out[i, j] + Table[0, Other[i] // 9 + (k - 1) - j]
""",
    "windows of a part": """
    for i in range(n):
        for j in range(k // 2 - 1):
            for l, o in T.grid(2, 3):
                Out[i, j] = Out[i, j] + Table[0, Other[i] // 9 + j * 2 + 2 + l - o]
""",
    "places of another part": """
    for i in range(n):
        for j in range(k):
            Out[i, j] = Out[i, j] + Table[Index[0, Other[i] // 9 + j], j]
""",
    "rounds that end early": """
    for i in range(n):
        for j in range(k):
            if j > 3:
                T.break_loop()
            Out[i, j] = Table[Index[i, j], j]
""",
}
DTYPES = ("int64", "int32", "uint8")
# Sizes around the number of rounds that are checked at once, and ones with nothing to do.
SHAPES = st.sampled_from(((0, 3), (7, 17), (300, 17), (3, 130)))


def kernel_of(name: str, dtype: str) -> PrimFunc:
    rows = "m" if dtype == "int64" else f'T.Cast("{dtype}", m)'
    return parsed(HEAD.format(dtype=dtype) + BODIES[name].replace("rows", rows))


FUNCTIONS = {(name, dtype): kernel_of(name, dtype) for name in BODIES for dtype in DTYPES}
# There are 9 rows: what is just in range, and what just is not, counted from both ends.
WRONG = st.sampled_from((0, 8, 9, 10, -1, -9, -10, 255, 1 << 31, -(1 << 31), 1 << 62)) | st.integers(-12, 300)
NOT_APPLIED = (
    *("rows", "a bound index", "rounds that end early"),
    # These are read in vectors.
    *("elements", "elements, counted from the end", "elements, counted from the end of another index", "two indices"),
    *("an index behind an index", "short rows"),
)


def arrays_of(random: np.random.Generator, shape: tuple[int, int], dtype: str, wrong: Sequence[int]) -> list[Array]:
    """Make arguments with `wrong` indices at random places."""
    n, k = shape
    m = 9
    index, other = random.integers(0, min(n, m) or 1, (n, k)).astype(dtype), random.integers(0, n or 1, (n,)) % m
    for position, value in enumerate(wrong):
        target = other if position % 2 else index.reshape(-1)
        if target.size:
            target[random.integers(0, target.size)] = np.int64(value).astype(target.dtype)
    table = random.standard_normal((m, k)).astype("float32")
    return [table, index, other, random.standard_normal((n, k)).astype("float32")]


@pytest.mark.parametrize("name", BODIES)
@settings(max_examples=9, deadline=None)
@given(SHAPES, st.lists(WRONG, max_size=3), st.booleans(), st.integers(0, 99), st.sampled_from(WIDTHS))
def test_all_is_as_in_the_naive_lowering(
    name: str, shape: tuple[int, int], wrong: list[int], is_generic: bool, seed: int, width: int
) -> None:
    dtype = DTYPES[[*BODIES].index(name) % len(DTYPES)]
    arrays = arrays_of(np.random.default_rng(seed), shape, dtype, wrong)
    assert_alike(ENGINES[width], FUNCTIONS[name, dtype], arrays, is_generic=is_generic)


@pytest.mark.parametrize("name", [name for name in BODIES if name not in NOT_APPLIED])
def test_it_is_applied(name: str) -> None:
    function = kernel_of(name, "int32")
    assert outcome(ENGINE, function, arrays_of(np.random.default_rng(0), (40, 17), "int32", ()), is_generic=False) == ""
    assert applied(function, ENGINE).get("guard", "").startswith("applied: indices of `")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("place", [(0, 0), (20, 16), (39, 32)])
@pytest.mark.parametrize("name", ["elements", "added elements", "added elements, counted from the end", "a store"])
def test_ends_are_exact(name: str, place: tuple[int, int], dtype: str) -> None:
    for value in (0, 8, 9, 39, 40, -1, -9, -10, 1 << 31, -(1 << 31)):
        arrays = arrays_of(np.random.default_rng(0), (40, 33), dtype, ())
        arrays[1][place] = np.int64(value).astype(dtype)
        assert_alike(ENGINE, FUNCTIONS[name, dtype], arrays, is_generic=False)


@pytest.mark.parametrize("place", [(0, 0), (0, 1), (0, 15), (0, 14)])
@pytest.mark.parametrize("name", ["a store at pairs", "pairs in one row"])
def test_each_of_a_pair_has_its_own_end(name: str, place: tuple[int, int]) -> None:
    for value in (0, 16, 17, 39, 40, -1):
        arrays = arrays_of(np.random.default_rng(0), (40, 17), "int64", ())
        arrays[1][place] = value
        assert_alike(ENGINE, FUNCTIONS[name, "int64"], arrays, is_generic=False)


@pytest.mark.parametrize("is_generic", [False, True])
@pytest.mark.parametrize("name", [name for name in BODIES if " part" in name])
def test_what_rises_is_in_range_at_both_ends(name: str, is_generic: bool) -> None:
    for start in (0, 8, 9, 18, -1, -9, -10, 9 << 31, (9 << 31) - 1, -(9 << 31), (1 << 63) - 1, -(1 << 63)):
        for row in (0, 39):
            arrays = arrays_of(np.random.default_rng(0), (40, 17), "int32", ())
            arrays[2][row] = start
            assert_alike(ENGINE, FUNCTIONS[name, "int32"], arrays, is_generic=is_generic)


def test_an_index_that_the_loop_writes_is_checked_in_its_place() -> None:
    function = parsed("""def main(links: T.handle):
    n = T.int64()
    Links = T.match_buffer(links, (n,), "int64")
    for i in range(n):
        Links[Links[i]] = i
""")
    links = np.arange(64)[::-1].copy()
    ENGINE.kernel(function, "f")(links)
    reason = applied(function, ENGINE)["guard"]
    assert reason == "refused: `Links`, which its indices are read from, is written in it"


def test_a_violation_names_the_round() -> None:
    random = np.random.default_rng(0)
    arrays = arrays_of(random, (300, 17), "int64", ())
    arrays[1][217, 5] = 11
    function = kernel_of("elements", "int64")
    before = arrays[3].copy()
    found = outcome(ENGINE, function, arrays, is_generic=False)
    assert "`Table[Index[i, j], j]`: Index[i, j] = 11, but Table has 9 rows (load at i = 217, j = 5)" in found
    assert (arrays[3][217, 5:] == before[217, 5:]).all()
    assert (arrays[3][218:] == before[218:]).all()
    assert (arrays[3][217, :5] == arrays[0][arrays[1][217, :5], range(5)]).all()
