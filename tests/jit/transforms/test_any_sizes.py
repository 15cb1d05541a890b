"""Tiles of products of any sizes: equal to the naive lowering bit for bit, whatever the sizes and the values."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relax_core.ir.tir import PrimFunc
from relax_core.jit.lowering.known.symbols import shape_symbols
from relax_core.jit.transforms.contractions.any_sizes import CHUNK_TERMS
from tests.jit.transforms.any_nests import arrays_of, reduction
from tests.jit.transforms.nests import ENGINES, WIDTHS, assert_alike

USUAL = {
    "dtype": "float32",
    "a": "n, k",
    "b": "k, m",
    "c": "n, m",
    "loops": "i, j, r",
    "extents": "n, m, k",
    "names": "vi, vj, vr",
    "kinds": "SSR",
    "out": "C[vi, vj]",
    "value": "C[vi, vj] + A[vi, vr] * B[vr, vj]",
    "start": "0",
}
TAKEN = {
    "a product": {},
    "of doubles": {"dtype": "float64"},
    "of integers": {"dtype": "int32"},
    "the term first": {"value": "A[vi, vr] * B[vr, vj] + C[vi, vj]"},
    "onto what is there": {"start": ""},
    "from another start": {"start": "3"},
    "the largest sum": {"value": "T.max(C[vi, vj], A[vi, vr] + B[vr, vj])"},
    "scaled": {"value": "C[vi, vj] + A[vi, vr] * T.float32(0.1) * B[vr, vj]"},
    "only rows are not known": {"b": "48, 40", "a": "n, 48", "c": "n, 40", "extents": "n, 40, 48"},
    "only terms are not known": {"b": "k, 40", "a": "7, k", "c": "7, 40", "extents": "7, 40, k"},
    "a batch": {
        "a": "3, n, k",
        "b": "3, k, m",
        "c": "3, n, m",
        "loops": "p, i, j, r",
        "extents": "3, n, m, k",
        "names": "vp, vi, vj, vr",
        "kinds": "SSSR",
        "out": "C[vp, vi, vj]",
        "value": "C[vp, vi, vj] + A[vp, vi, vr] * B[vp, vr, vj]",
    },
    "heads in the middle": {
        "a": "n, 2, k",
        "b": "k, 2, m",
        "c": "n, 2, m",
        "loops": "p, i, j, r",
        "extents": "2, n, m, k",
        "names": "vp, vi, vj, vr",
        "kinds": "SSSR",
        "out": "C[vi, vp, vj]",
        "value": "C[vi, vp, vj] + A[vi, vp, vr] * B[vr, vp, vj]",
    },
    "the matrix of rows is transposed": {"a": "k, n", "value": "C[vi, vj] + A[vr, vi] * B[vr, vj]"},
    "a row": {
        "a": "k,",
        "c": "m,",
        "loops": "j, r",
        "extents": "m, k",
        "names": "vj, vr",
        "kinds": "SR",
        "out": "C[vj]",
        "value": "C[vj] + A[vr] * B[vr, vj]",
    },
}
REFUSED = {
    "the columns lie apart": {"b": "m, k", "value": "C[vi, vj] + A[vi, vr] * B[vj, vr]"},
    "an index is computed": {"a": "n, k + 1", "value": "C[vi, vj] + A[vi, vr + 1] * B[vr, vj]"},
    "of halves": {"dtype": "float16"},
    "a quotient": {"value": "C[vi, vj] + T.exp(A[vi, vr]) * B[vr, vj]"},
    "out of range": {"a": "n, 40", "value": "C[vi, vj] + A[vi, vr] * B[vr, vj]"},
}
SIZES = st.sampled_from((0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 40))


def function_of(name: str) -> PrimFunc:
    return reduction(USUAL | (TAKEN | REFUSED)[name], "nmk")


@pytest.mark.parametrize("name", TAKEN)
@settings(max_examples=15, deadline=None)
@given(sizes=st.tuples(SIZES, SIZES, SIZES), width=st.sampled_from(WIDTHS), seed=st.integers(0, 99))
def test_the_same_bits(name: str, sizes: tuple[int, int, int], width: int, seed: int) -> None:
    function = function_of(name)
    arrays = arrays_of(function, dict(zip("nmk", sizes, strict=True)), seed)
    assert assert_alike(ENGINES[width], function, arrays, is_generic=True) == ""


@pytest.mark.parametrize("count", [CHUNK_TERMS - 1, CHUNK_TERMS, CHUNK_TERMS + 1, 2 * CHUNK_TERMS + 3])
def test_sums_of_many_terms(count: int) -> None:
    function = function_of("a product")
    for width in WIDTHS:
        arrays = arrays_of(function, {"n": 5, "m": 37, "k": count}, 1)
        assert_alike(ENGINES[width], function, arrays, is_generic=True)


@pytest.mark.parametrize("name", [*TAKEN, *REFUSED])
def test_which_are_taken(name: str) -> None:
    function = function_of(name)
    kernel = ENGINES[256].kernel(function, name)
    remarks = {remark.transform for remark in kernel.remarks() if remark.kind == "applied"}
    assert ("tile_any" in remarks) == (name in TAKEN), kernel.remarks()


def test_lanes_behind_the_last_column_touch_nothing() -> None:
    function = function_of("a product")
    room = [np.full(400, 7, "float32") for _ in range(3)]
    shapes = ((5, 6), (6, 11), (5, 11))
    inside = [item[100 : 100 + a * b].reshape(a, b) for item, (a, b) in zip(room, shapes, strict=True)]
    kernel = ENGINES[256].kernel(function, "f")
    kernel.specialised_variants = 0
    kernel(*inside)
    assert (inside[2] == 6 * 49).all()
    assert all((item[:100] == 7).all() for item in room)
    assert (room[2][155:] == 7).all()
    assert len(shape_symbols(function)) == 3
