"""Rows of any number and length: equal to the naive lowering bit for bit, whatever the sizes and the values."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relax_core.ir.integer.evaluate import evaluate
from relax_core.ir.tir import PrimFunc
from relax_core.jit.lowering.known.symbols import shape_symbols
from relax_core.jit.transforms.reductions.rows import DIRECT_COLUMNS, STAGED_COLUMNS
from tests.jit.programs import parsed
from tests.jit.transforms.nests import ENGINES, WIDTHS, Array, applied, assert_alike, filled

NEST = """def f(a: T.handle, b: T.handle, c: T.handle):
    n = T.int64()
    m = T.int64()
    A = T.match_buffer(a, ({a}), "{dtype}")
    B = T.match_buffer(b, ({b}), "{dtype}")
    C = T.match_buffer(c, ({c}), "{dtype}")
    for {loops} in T.grid({extents}):
        with T.block("c"):
            {names} = T.axis.remap("{kinds}", [{loops}])
            {init}
            {out} = {value}
"""
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


def function_of(name: str) -> PrimFunc:
    given_ = USUAL | (TAKEN | LEFT)[name]
    start = given_["start"]
    init = f"with T.init():\n                {given_['out']} = T.{given_['dtype']}({start})" if start else ""
    return parsed(NEST.format(**given_, init=init))


FUNCTIONS = {name: function_of(name) for name in (*TAKEN, *LEFT)}


def arrays_of(function: PrimFunc, sizes: dict[str, int], seed: int) -> list[Array]:
    random = np.random.default_rng(seed)
    values = {symbol: sizes[symbol.name] for symbol in shape_symbols(function)}
    shapes = [tuple(int(evaluate(dim, values)) for dim in item.buffer.shape) for item in function.buffers]
    return [filled(random, shape, item.buffer.dtype) for shape, item in zip(shapes, function.buffers, strict=True)]


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
