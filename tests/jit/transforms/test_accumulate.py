"""Elements that stay in registers while a loop updates them: values and violations are as in the naive lowering."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relax_core.diagnostics import RunError
from relax_core.ir.tir import PrimFunc
from relax_core.jit.engine import Engine
from relax_core.jit.options import KernelOptions
from tests.jit.programs import parsed
from tests.jit.transforms.nests import WIDTHS, Array, applied, assert_alike, outcome

ENGINES = {width: Engine(options=KernelOptions(vector_bits=width, threads=1)) for width in WIDTHS}
ENGINE = ENGINES[512]
HEAD = """def f(starts: T.handle, columns: T.handle, values: T.handle, vector: T.handle, out: T.handle, last: T.handle):
    n, m, k = T.int64(), T.int64(), T.int64()
    Starts = T.match_buffer(starts, (n + 1,), "int64")
    Columns = T.match_buffer(columns, (k,), "int64")
    Values = T.match_buffer(values, (k,), "{dtype}")
    Vector = T.match_buffer(vector, (m,), "{dtype}")
    Out = T.match_buffer(out, (n,), "{dtype}")
    Last = T.match_buffer(last, (n,), "int64")
"""
# What is done in the rounds of `j`, for the row `i`.
ROWS = {
    "sums": """
        for j in range(Starts[i + 1] - Starts[i]):
            Out[i] = Out[i] + Values[Starts[i] + j] * Vector[Columns[Starts[i] + j]]
""",
    "sums from a start": """
        for j in range(Starts[i], Starts[i + 1]):
            with T.sblock("sum"):
                y, x = T.axis.remap("SR", [i, j])
                with T.init():
                    Out[y] = T.Cast("{dtype}", 1)
                Out[y] = Out[y] + Vector[Columns[x]]
""",
    "backwards": """
        for j in range(Starts[i + 1] - Starts[i]):
            Out[i] = Out[i] * T.Cast("{dtype}", 2) + Vector[Columns[Starts[i + 1] - 1 - j]]
""",
    "the greatest and its place": """
        for j in range(Starts[i + 1] - Starts[i]):
            if Out[i] < Vector[Columns[Starts[i] + j]]:
                Out[i] = Vector[Columns[Starts[i] + j]]
                Last[i] = j
""",
    "until it is enough": """
        for j in range(k):
            if T.Cast("{dtype}", 3) < Out[i]:
                T.break_loop()
            if Columns[j] < 2:
                T.continue_loop()
            Out[i] = Out[i] + Vector[Columns[j]]
""",
    "loops in loops": """
        for j in range(Starts[i + 1] - Starts[i]):
            at: T.let[T.int64] = Columns[Starts[i] + j]
            for l in range(at):
                Out[i] = Out[i] + Vector[l]
                Last[i] = Last[i] + l
""",
    "with a while loop": """
        for j in range(Starts[i + 1] - Starts[i]):
            Last[i] = Columns[Starts[i] + j]
            while Last[i] > 2:
                Out[i] = Out[i] + Vector[Last[i]]
                Last[i] = Last[i] - 2
""",
    "another element beside it": """
        for j in range(Starts[i + 1] - Starts[i]):
            Out[i] = Out[i] + Vector[Columns[Starts[i] + j]] * Out[n - 1]
""",
    "places that are changed": """
        for j in range(Starts[i + 1] - Starts[i]):
            Last[Last[i] % n] = Last[Last[i] % n] + Columns[Starts[i] + j]
""",
}
# Two elements of one buffer may be touched in these.
LEFT = ("another element beside it", "places that are changed")
DTYPES = ("float32", "float64", "int32", "float16", "int8")
COLUMNS, WRONG = 9, (9, -1, 1 << 40, -(1 << 63), 8, 0)


def kernel_of(name: str, dtype: str) -> PrimFunc:
    return parsed(HEAD.format(dtype=dtype) + "    for i in range(n):" + ROWS[name].format(dtype=dtype))


def arrays_of(seed: int, dtype: str, row_count: int, longest: int) -> list[Array]:
    """Make arguments all of whose indices are in range, with rows of no element among them."""
    random = np.random.default_rng(seed)
    starts = np.concatenate(([0], np.cumsum(random.integers(0, longest + 1, row_count))))
    count = int(starts[-1]) + 1
    values, vector, out = ((random.standard_normal(size) * 2).astype(dtype) for size in (count, COLUMNS, row_count))
    return [starts, random.integers(0, COLUMNS, count), values, vector, out, random.integers(0, row_count, row_count)]


@pytest.mark.parametrize("name", ROWS)
@settings(max_examples=12, deadline=None)
@given(
    st.tuples(st.integers(0, 99), st.sampled_from(DTYPES), st.integers(1, 9), st.sampled_from((0, 1, 5, 100))),
    st.lists(st.tuples(st.integers(0, 1), st.integers(0, 999), st.sampled_from(WRONG)), max_size=2),
    st.sampled_from(WIDTHS),
    st.booleans(),
)
def test_all_is_as_in_the_naive_lowering(
    name: str,
    kind: tuple[int, str, int, int],
    wrong: list[tuple[int, int, int]],
    width: int,
    is_generic: bool,
) -> None:
    arrays = arrays_of(*kind)
    for which, place, value in wrong:
        # A row that starts somewhere else ends in the limit of work; so only the last of all may end elsewhere.
        target = arrays[1] if which else arrays[0][-1:]
        target[place % target.size] = value if which else min(abs(value), 500)
    assert_alike(ENGINES[width], kernel_of(name, kind[1]), arrays, is_generic=is_generic)


@pytest.mark.parametrize("name", ROWS)
def test_it_is_applied_where_one_element_is_touched(name: str) -> None:
    function = kernel_of(name, "float32")
    assert outcome(ENGINE, function, arrays_of(0, "float32", 5, 9), is_generic=False) == ""
    said = applied(function, ENGINE).get("accumulate", "")
    assert said.startswith("applied: ") == (name not in LEFT)
    assert ("elements of `Last`, `Out` stay" in said) == (name == "with a while loop")


def test_what_was_added_before_a_violation_is_in_memory() -> None:
    arrays = arrays_of(3, "float64", 4, 20)
    arrays[0] = np.array([0, 1, 2, 10, 12])
    arrays[1], arrays[2] = np.ones(12, np.int64), np.full(12, 0.1)
    arrays[1][2 + 3] = COLUMNS
    found = assert_alike(ENGINE, kernel_of("sums", "float64"), arrays, is_generic=False)
    assert "Columns[Starts[i] + j] = 9, but Vector has 9 elements (load at i = 2, j = 3)" in found


def test_what_was_added_before_the_limit_of_work_is_in_memory() -> None:
    function = kernel_of("loops in loops", "float32")
    arrays = arrays_of(1, "float32", 3, 20)
    arrays[1][...] = 1
    expected = [array.copy() for array in arrays]
    for transformed, found in ((True, arrays), (False, expected)):
        engine = Engine(options=KernelOptions(is_transformed=transformed, threads=1), fuel=40)
        with pytest.raises(RunError, match="limit of work"):
            engine.kernel(function, "f")(*found)
    assert all((a == b).all() for a, b in zip(arrays, expected, strict=True))
    changed = arrays[4] != arrays_of(1, "float32", 3, 20)[4]
    assert changed.any(), "it began"
    assert not changed.all(), "it did not end"
