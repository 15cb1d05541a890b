"""Long rows in many lanes: choices are exact with NaNs and zeros of both signs, sums are the same on all processors."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relax_core.diagnostics import RunError
from relax_core.ir.prim import BinaryKind, binary
from relax_core.ir.tir import IterKind
from relax_core.jit.engine import Engine
from relax_core.jit.options import KernelOptions
from tests.jit.transforms.nests import ENGINES, WIDTHS, Accumulation, Input, applied, compare
from tests.jit.transforms.test_rows import DOUBLE, HALF, SINGLE, rows, start_of

S: IterKind = "spatial"
R: IterKind = "reduce"
WIDTH = st.sampled_from(WIDTHS)
FAST = {width: Engine(options=KernelOptions(mode="fast", vector_bits=width)) for width in WIDTHS}
LONG = st.sampled_from((1, 15, 16, 32, 63, 64, 65, 100, 128, 300, 1024, 1100, 2500))
OPERATIONS, DTYPES = st.sampled_from(("max", "min")), st.sampled_from((SINGLE, DOUBLE, HALF))


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 3), LONG, st.sampled_from(("max", "min")), st.sampled_from((SINGLE, DOUBLE, HALF)), WIDTH, st.data()
)
def test_choices(count: int, length: int, op: BinaryKind, dtype: str, width: int, data: st.DataObject) -> None:
    nest = rows(op, dtype, has_start=data.draw(st.booleans()))
    arrays = nest.arrays((count, length), data.draw(st.integers(0, 99)))
    if data.draw(st.booleans()):
        # Rows of zeros of both signs and of smaller or greater values.
        arrays[0] = np.copysign(0.0, arrays[0]) - (np.random.default_rng(0).random(arrays[0].shape) < 0.5)
        arrays[0] = (arrays[0] if op == "max" else -arrays[0]).astype(dtype)
    names = compare(nest.function((count, length)), arrays, ENGINES[width])
    assert ("lanes" in names) == (count > 0 and length >= 4 * min(16, width // np.dtype(dtype).itemsize // 8))


@settings(max_examples=10, deadline=None)
@given(st.tuples(st.integers(1, 3), st.integers(0, 4), st.integers(60, 90)), WIDTH, st.integers(0, 99))
def test_choices_of_computed_values(extents: tuple[int, int, int], width: int, seed: int) -> None:
    nest = Accumulation(
        (S, R, R),
        (Input((0, 2, 1)), Input((2,))),
        lambda x, y: binary("*", x, y),
        lambda out, value: binary("max", out, value),
        start_of("max", SINGLE),
    )
    compare(nest.function(extents), nest.arrays(extents, seed), ENGINES[width])


def tree(op: Any, start: Any, row: Any) -> Any:
    """Combine a row in 4 vectors of 16 lanes, each with the next-but-one, then halves of the lanes, then the rest."""
    whole = len(row) // 64 * 64
    lanes = np.full((4, 16), -0.0 if op is np.add else 1.0, row.dtype)
    for first in range(0, whole, 64):
        lanes = op(lanes, row[first : first + 64].reshape(4, 16))
    joined = op(op(lanes[0], lanes[2]), op(lanes[1], lanes[3]))
    while len(joined) > 1:
        joined = op(joined[: len(joined) // 2], joined[len(joined) // 2 :])
    total = start
    for value in row[whole:]:
        total = op(total, value)
    return op(total, joined[0])


@pytest.mark.parametrize(("op", "ufunc"), [("+", np.add), ("*", np.multiply)])
@pytest.mark.parametrize("length", [64, 200, 1024, 5000])
def test_a_fast_sum_is_one_fixed_tree_whatever_the_width(op: BinaryKind, ufunc: Any, length: int) -> None:
    nest = rows(op, SINGLE)
    source = (1 + np.random.default_rng(length).standard_normal((2, length)) / 100).astype(SINGLE)
    expected = np.array([tree(ufunc, np.float32(op == "*"), row) for row in source])
    for engine in FAST.values():
        got = np.zeros(2, SINGLE)
        engine.kernel(nest.function((2, length)), "sum")(source, got)
        assert np.array_equal(got, expected)


def test_a_sum_is_refused_where_order_is_kept() -> None:
    reasons = applied(rows("+", SINGLE).function((1, 1000)), Engine())
    assert reasons["lanes"] == 'refused: `+` of float32 keeps its order; only mode "fast" changes it'


@pytest.mark.parametrize(("op", "engine"), [("max", ENGINES[256]), ("+", FAST[256])], ids=["choice", "fast sum"])
def test_fuel_is_paid(op: BinaryKind, engine: Engine) -> None:
    function, arrays = rows(op, SINGLE).function((1, 100_000)), rows(op, SINGLE).arrays((1, 100_000), 0)
    arrays[0][:] = 1
    Engine(fuel=400_000, options=engine.options).kernel(function, "f")(*arrays)
    with pytest.raises(RunError, match="JT015"):
        Engine(fuel=99_999, options=engine.options).kernel(function, "f")(*arrays)
