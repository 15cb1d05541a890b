"""Transpositions in registers: every element arrives, whatever the shape, the order of the axes and the width."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relax_core.jit.engine import Engine
from relax_core.jit.lowering.code import FunctionBuilder
from relax_core.jit.transforms.vector_code import transposed
from tests.jit.programs import sizes_of
from tests.jit.transforms.nests import ENGINES, WIDTHS, applied, compare, filled, permuted


@settings(max_examples=50, deadline=None)
@given(
    st.data(),
    st.integers(1, 4),
    st.sampled_from(("float32", "float64", "float16", "int8", "int32", "bool")),
    st.sampled_from(WIDTHS),
)
def test_permutations(data: st.DataObject, rank: int, dtype: str, width: int) -> None:
    shape = tuple(data.draw(st.sampled_from((0, 1, 2, 3, 4, 5, 7, 16, 17, 33))) for _ in range(rank))
    order = tuple(data.draw(st.permutations(range(rank))))
    steps = tuple(data.draw(st.sampled_from((1, 1, 1, 2, -1))) for _ in range(rank))
    function = permuted(shape, order, steps, dtype)
    random = np.random.default_rng(data.draw(st.integers(0, 9)))
    sizes = sizes_of(function.buffers[0].buffer)
    compare(function, [filled(random, sizes, dtype), filled(random, shape, dtype)], ENGINES[width])


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(
    ("shape", "order"),
    [((67, 45), (1, 0)), ((2, 9, 6, 21), (0, 2, 3, 1)), ((2, 9, 6, 21), (0, 3, 1, 2)), ((4, 37, 4), (0, 2, 1))],
    ids=str,
)
def test_is_applied(shape: tuple[int, ...], order: tuple[int, ...], width: int) -> None:
    function = permuted(shape, order, (1,) * len(shape))
    source = np.arange(np.prod(shape), dtype="float32").reshape(
        [shape[order.index(axis)] for axis in range(len(shape))]
    )
    got: Any = np.zeros(shape, "float32")
    assert "transpose" in compare(function, [source, got], ENGINES[width])
    ENGINES[width].kernel(function, "f")(source, got)
    assert np.array_equal(got, source.transpose(order))


def test_an_axis_that_stays_innermost_is_left_to_the_naive_lowering() -> None:
    assert "transpose" not in applied(permuted((4, 5, 6), (1, 0, 2), (1, 1, 1)), Engine())


def test_too_few_rows_are_refused_with_the_reason() -> None:
    assert applied(permuted((2, 64), (1, 0), (1, 1)), Engine())["transpose"] == "refused: 2 by 64 elements fill no tile"


@pytest.mark.parametrize(("lanes", "bits"), [(4, 32), (8, 32), (16, 32), (2, 64), (4, 64), (8, 64), (16, 16), (16, 8)])
def test_a_tile_takes_the_least_number_of_shuffles(lanes: int, bits: int) -> None:
    code = FunctionBuilder()
    columns = transposed(code, [f"%r{at}" for at in range(lanes)], f"i{bits}", bits)
    assert len(set(columns)) == lanes
    assert len(code.lines) == lanes * (lanes.bit_length() - 1)
