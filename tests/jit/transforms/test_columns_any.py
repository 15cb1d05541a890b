"""Outputs side by side of any number: equal to the naive lowering bit for bit, whatever the sizes and the values."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.jit.transforms.any_nests import arrays_of, reduction
from tests.jit.transforms.nests import ENGINES, WIDTHS, applied, assert_alike

COLUMNS = {
    "dtype": "float32",
    "a": "m, n",
    "b": "m,",
    "c": "n,",
    "loops": "i, r",
    "extents": "n, m",
    "names": "vi, vr",
    "kinds": "SR",
    "out": "C[vi]",
    "value": "C[vi] + A[vr, vi]",
    "start": "0",
}
WINDOWS = COLUMNS | {
    "a": "n, m",
    "c": "n, (m - 1) // 2 + 1",
    "loops": "p, i, r",
    "extents": "n, (m - 1) // 2 + 1, 3",
    "names": "vp, vi, vr",
    "kinds": "SSR",
    "out": "C[vp, vi]",
    "start": "-7",
}
INSIDE = "0 <= vi * 2 + vr - 1 and vi * 2 + vr - 1 < m"
PLACE = "A[vp, vi * 2 + vr - 1]"
TAKEN = {
    "columns": {},
    "columns of doubles": {"dtype": "float64"},
    "columns of integers": {"dtype": "int32"},
    "the value first": {"value": "A[vr, vi] + C[vi]"},
    "the greatest": {"value": "T.max(C[vi], A[vr, vi])"},
    "onto what is there": {"start": ""},
    "a part of the columns": {"value": "C[vi] + T.if_then_else(vi <= vr, A[vr, vi], T.float32(2))"},
    "all but some": {"value": "C[vi] + T.if_then_else(not (vi == vr or n - 3 < vi), A[vr, vi], A[0, vi])"},
    "one of two": {
        "value": "C[vi] + T.if_then_else(vi != vr, A[vr, vi], T.if_then_else(vr < 3, A[0, vi], T.float32(2)))"
    },
    "two at once": {
        "a": "m, 3, n",
        "loops": "i, r, s",
        "extents": "n, m, 3",
        "names": "vi, vr, vs",
        "kinds": "SRR",
        "value": "C[vi] + A[vr, vs, vi]",
    },
    "only the number of columns is not known": {"a": "9, n", "b": "m,", "extents": "n, 9"},
    "only their length is not known": {"a": "m, 21", "b": "n,", "c": "21,", "extents": "21, m"},
    "windows": {"value": f"T.max(C[vp, vi], T.if_then_else({INSIDE}, {PLACE}, T.float32(-9)))"} | {"windows": ""},
    "scaled windows": {"value": f"C[vp, vi] + T.if_then_else({INSIDE}, {PLACE}, T.float32(0)) * B[vr]", "b": "3,"}
    | {"windows": ""},
    "windows side by side": {
        "c": "n, (m - 2) // 2 + 1",
        "extents": "n, (m - 2) // 2 + 1, 2",
        "value": "C[vp, vi] + A[vp, vi * 2 + vr]",
        "windows": "",
    },
    "windows that overlap": {
        "c": "n, m",
        "extents": "n, m, 3",
        "value": "C[vp, vi] + T.if_then_else(vi + vr >= 1 and vi + vr < m + 1, A[vp, vi + vr - 1], T.float32(1))",
        "windows": "",
    },
}
LEFT = {
    "halves": {"dtype": "float16"},
    "lanes far apart": {"a": "m, n, 3", "value": "C[vi] + A[vr, vi, 0]"},
    "from the end": {"value": "C[vi] + A[vr, n - 1 - vi]"},
    "a place that is read": {"b": "n,", "value": "C[vi] + A[vr, T.Cast('int64', B[vi])]"},
    "chosen by what is read": {"value": "C[vi] + T.if_then_else(A[vr, 0] < A[vr, vi], A[vr, vi], T.float32(1))"},
    "one element that is chosen": {"value": "C[vi] + T.if_then_else(vi < vr, B[vr], T.float32(1))"},
    "a quotient of the lane": {"value": "C[vi] + A[vr, vi // 2]"},
    "exponentials": {"value": "C[vi] + T.exp(A[vr, vi])"},
    "out of range": {"a": "m, 40", "b": "n,"},
}
SIZES = st.sampled_from((0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 33, 34, 65))


FUNCTIONS = {
    name: reduction((WINDOWS if "windows" in case else COLUMNS) | case, "nm") for name, case in (TAKEN | LEFT).items()
}


@pytest.mark.parametrize("name", TAKEN)
@settings(max_examples=12, deadline=None)
@given(sizes=st.tuples(SIZES, SIZES), width=st.sampled_from(WIDTHS), seed=st.integers(0, 99))
def test_the_same_bits(name: str, sizes: tuple[int, int], width: int, seed: int) -> None:
    function = FUNCTIONS[name]
    arrays = arrays_of(function, dict(zip("nm", sizes, strict=True)), seed)
    assert assert_alike(ENGINES[width], function, arrays, is_generic=True) == ""


@pytest.mark.parametrize("name", [*TAKEN, *LEFT])
def test_which_are_taken(name: str) -> None:
    said = applied(FUNCTIONS[name], ENGINES[256]).get("columns_any", "")
    assert said.startswith("applied") == (name in TAKEN), said


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_beside_the_outputs_is_written(width: int) -> None:
    function = FUNCTIONS["windows"]
    room = np.full(400, 7, "float32")
    out = room[100 : 100 + 5 * 11].reshape(5, 11)
    kernel = ENGINES[width].kernel(function, "f")
    kernel.specialised_variants = 0
    kernel(np.ones((5, 21), "float32"), np.ones(21, "float32"), out)
    assert (out == 1).all()
    assert (room[:100] == 7).all()
    assert (room[155:] == 7).all()
