"""Rows of any number and length: equal to the naive lowering bit for bit, whatever the sizes and the values."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relax_core.jit.transforms.reductions.rows import DIRECT_COLUMNS, STAGED_COLUMNS
from tests.jit.transforms.any_nests import arrays_of, reduction
from tests.jit.transforms.nests import ENGINES, WIDTHS, applied, assert_alike

USUAL = {
    "dtype": "float32",
    "a": "n, m",
    "b": "n,",
    "c": "n,",
    "loops": "i, r",
    "extents": "n, m",
    "names": "vi, vr",
    "kinds": "SR",
    "out": "C[vi]",
    "value": "C[vi] + A[vi, vr]",
    "start": "0",
}
TAKEN = {
    "sums": {},
    "sums of doubles": {"dtype": "float64"},
    "the value first": {"value": "A[vi, vr] + C[vi]"},
    "the greatest": {"value": "T.max(C[vi], A[vi, vr])", "start": "-3.4028234663852886e+38"},
    "the least, the value first": {"value": "T.min(A[vi, vr], C[vi])", "start": "1"},
    "onto what is there": {"start": ""},
    "squares of differences": {"value": "C[vi] + (A[vi, vr] - B[vi]) * (A[vi, vr] - B[vi])"},
    "exponentials": {"value": "C[vi] + T.exp(A[vi, vr] - B[vi])"},
    "what is chosen": {"value": "C[vi] + T.if_then_else(vr < vi, A[vi, vr], B[vi])"},
    "integers as numbers": {"value": "C[vi] + A[vi, vr] * T.Cast('float32', vr)"},
    "only rows are not known": {"a": "n, 40", "extents": "n, 40"},
    "only the length is not known": {"a": "7, m", "c": "7,", "extents": "7, m"},
    "a batch": {
        "a": "3, n, m",
        "c": "3, n",
        "loops": "p, i, r",
        "extents": "3, n, m",
        "names": "vp, vi, vr",
        "kinds": "SSR",
        "out": "C[vp, vi]",
        "value": "C[vp, vi] + A[vp, vi, vr]",
    },
    "a product with the transposed": {
        "c": "n, n",
        "loops": "i, j, r",
        "extents": "n, n, m",
        "names": "vi, vj, vr",
        "kinds": "SSR",
        "out": "C[vi, vj]",
        "value": "C[vi, vj] + A[vi, vr] * A[vj, vr]",
    },
    "from the end": {"value": "C[vi] + A[vi, m - 1 - vr]"},
}
LEFT = {
    "integers": {"dtype": "int32"},
    "short rows": {"a": "n, 4", "extents": "n, 4"},
    "columns": {"a": "m, n", "value": "C[vi] + A[vr, vi]"},
    "a place that is read": {"value": "C[vi] + A[vi, T.Cast('int64', B[vi])]"},
    "out of range": {"a": "n, 40", "b": "m,"},
    "rows in one element": {"out": "C[0]", "value": "C[0] + A[vi, vr]", "c": "1,"},
}
SIZES = st.sampled_from((0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 40))


FUNCTIONS = {name: reduction(USUAL | case, "nm") for name, case in (TAKEN | LEFT).items()}


@pytest.mark.parametrize("name", TAKEN)
@settings(max_examples=10, deadline=None)
@given(sizes=st.tuples(SIZES, SIZES), width=st.sampled_from(WIDTHS), seed=st.integers(0, 99))
def test_the_same_bits(name: str, sizes: tuple[int, int], width: int, seed: int) -> None:
    function = FUNCTIONS[name]
    arrays = arrays_of(function, dict(zip("nm", sizes, strict=True)), seed)
    assert assert_alike(ENGINES[width], function, arrays, is_generic=True) == ""


@pytest.mark.parametrize(("name", "size"), [("sums", DIRECT_COLUMNS), ("squares of differences", STAGED_COLUMNS)])
@pytest.mark.parametrize("more", [-1, 0, 1, 19])
def test_rows_of_several_chunks(name: str, size: int, more: int) -> None:
    function = FUNCTIONS[name]
    for width in WIDTHS:
        arrays = arrays_of(function, {"n": 5, "m": 2 * size + more}, 1)
        assert assert_alike(ENGINES[width], function, arrays, is_generic=True) == ""


@pytest.mark.parametrize("name", [*TAKEN, *LEFT])
def test_which_are_taken(name: str) -> None:
    said = applied(FUNCTIONS[name], ENGINES[256]).get("rows_any", "")
    assert said.startswith("applied") == (name in TAKEN), said
