"""Loops of any sizes that are split where a comparison turns: the same bits and stops, and which are split."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relax_core.ir.integer.evaluate import evaluate
from relax_core.ir.tir import PrimFunc
from relax_core.jit.lowering.known.symbols import shape_symbols
from relax_core.jit.lowering.lower import lower
from tests.jit.programs import parsed
from tests.jit.transforms.nests import ENGINES, WIDTHS, Array, applied, assert_alike, filled

NEST = """def f(a: T.handle, b: T.handle, c: T.handle):
    n = T.int64()
    m = T.int64()
    k = T.int64()
    A = T.match_buffer(a, (n, m), "float32")
    B = T.match_buffer(b, (n, k), "float32")
    C = T.match_buffer(c, ({out}), "float32")
    for i, j in T.grid({out}):
        with T.block("c"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = {value}
"""
SPLIT = {
    "a concatenation": ("n, m + k", "T.if_then_else(vj < m, A[vi, vj], B[vi, vj - m])", 2),
    "the other way round": ("n, m + k", "T.if_then_else(0 <= vj - m, B[vi, vj - m], A[vi, vj])", 2),
    "a padding": (
        "n + 2, m + 4",
        "T.if_then_else(1 <= vi and vi - 1 < n and vj > 1 and not m + 1 < vj, A[vi - 1, vj - 2], T.float32(7))",
        5,
    ),
    "a shift to the right": ("n, m + 1", "T.if_then_else(vj == 0, T.float32(7), A[vi, vj - 1])", 2),
    "the last row": ("n + 1, m", "T.if_then_else(vi != n, A[vi, vj], T.float32(7))", 2),
    "from the end": ("n, m + k", "T.if_then_else(m + k - vj > k, A[vi, vj], B[vi, vj - m])", 2),
    "three parts": (
        "n, m + k + m",
        "T.if_then_else(vj < m, A[vi, vj], T.if_then_else(vj < m + k, B[vi, vj - m], A[vi, vj - m - k]))",
        3,
    ),
    "what is left is chosen": (
        "n, m + k",
        "T.if_then_else(vj < m, A[vi, vj], T.if_then_else(B[vi, vj - m] > T.float32(0), B[vi, vj - m], T.float32(7)))",
        2,
    ),
}
LEFT = {
    "where a cut lies is not known": ("n, m", "T.if_then_else(vj < k, T.float32(7), A[vi, vj])"),
    "a cut that may be behind the end": ("n, m", "T.if_then_else(vj == 0, T.float32(7), A[vi, T.max(vj - 1, 0)])"),
    "a cut that may be before the start": ("n, m", "T.if_then_else(vj < m - 2, A[vi, vj], T.float32(7))"),
    "by two loops": ("n, m", "T.if_then_else(vi < vj, A[vi, vj], T.float32(7))"),
    "by what is read": ("n, m", "T.if_then_else(A[vi, 0] < A[vi, vj], A[vi, vj], T.float32(7))"),
}
SIZES = st.sampled_from((0, 1, 2, 3, 5, 8, 17, 33))


def function_of(name: str) -> PrimFunc:
    out, value, *_ = (SPLIT | LEFT)[name]
    return parsed(NEST.format(out=out, value=value))


FUNCTIONS = {name: function_of(name) for name in (*SPLIT, *LEFT)}


def arrays_of(function: PrimFunc, sizes: dict[str, int], seed: int) -> list[Array]:
    random = np.random.default_rng(seed)
    values = {symbol: sizes[symbol.name] for symbol in shape_symbols(function)}
    shapes = [tuple(int(evaluate(dim, values)) for dim in item.buffer.shape) for item in function.buffers]
    return [filled(random, shape, "float32") for shape in shapes]


@pytest.mark.parametrize("name", [*SPLIT, *LEFT])
@settings(max_examples=10, deadline=None)
@given(sizes=st.tuples(SIZES, SIZES, SIZES), width=st.sampled_from(WIDTHS), seed=st.integers(0, 99))
def test_the_same_bits(name: str, sizes: tuple[int, int, int], width: int, seed: int) -> None:
    function = FUNCTIONS[name]
    arrays = arrays_of(function, dict(zip("nmk", sizes, strict=True)), seed)
    assert assert_alike(ENGINES[width], function, arrays, is_generic=True) == ""


@pytest.mark.parametrize("name", [*SPLIT, *LEFT])
def test_which_are_split(name: str) -> None:
    said = applied(FUNCTIONS[name], ENGINES[256]).get("split_any", "")
    expected = f"applied: {SPLIT[name][2]} pieces of any sizes" if name in SPLIT else ""
    assert said.startswith(expected)
    assert bool(said) == bool(expected)


def test_a_condition_that_stops_is_evaluated() -> None:
    place = "vj + T.Cast('int64', I[vi + 1]) * 0"
    text = NEST.format(out="n, m + k", value=f"T.if_then_else({place} < m, A[vi, vj], B[vi, vj - m])")
    function = parsed(text.replace("c: T.handle", "c: T.handle, I: T.Buffer((4,), 'int32')"))
    sizes = {"n": 4, "m": 5, "k": 3}
    arrays = [*arrays_of(function, sizes, 1)[:3], np.zeros(4, "int32")]
    assert "JT" in assert_alike(ENGINES[256], function, arrays, is_generic=True)


def test_no_access_of_a_piece_is_checked() -> None:
    for name in SPLIT:
        lowered = lower(FUNCTIONS[name], None, lambda _: None, are_distinct=True)
        assert not lowered.checked, name
