"""Elementwise nests with fewer loops: equal to the naive lowering bit for bit, whatever is broadcast or permuted."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relax_core.diagnostics import RunError
from relax_core.ir.prim import Cast, FloatImm, Intrinsic, PrimExpr, Select, binary, const
from relax_core.jit.engine import Engine
from tests.jit.programs import Make
from tests.jit.transforms.nests import ENGINES, WIDTHS, Accumulation, Input, applied, compare

SIZES = st.sampled_from((0, 1, 2, 3, 5, 7, 8, 16, 17, 31))


def by_place(x: PrimExpr, y: PrimExpr, *at: PrimExpr) -> PrimExpr:
    return Select(binary("<", at[0], const(2, "int64")), x, y, "float32")


VALUES: dict[str, Make] = {
    "sum": lambda x, y: binary("+", x, y),
    "exponential": lambda x, y: Intrinsic("exp", (binary("*", x, y),), "float32"),
    "clip": lambda x, y: binary("min", binary("max", x, FloatImm(-1.0)), y),
    "choice": lambda x, y: Select(binary("<", x, y), x, binary("*", y, FloatImm(2.0)), "float32"),
    "by place": by_place,
}


def elementwise(value: Make, *inputs: Input, rank: int) -> Accumulation:
    kinds = ("spatial",) * rank
    return Accumulation(kinds, inputs, value, lambda _, made: made, None, is_placed=value is by_place)


@st.composite
def operands(draw: st.DrawFn, rank: int) -> Input:
    """Make an input with some of the axes in any order, so that the others are broadcast."""
    axes = draw(st.permutations(range(rank)).map(tuple))
    kept = axes if draw(st.booleans()) else tuple(sorted(axes[: draw(st.integers(1, rank))]))
    steps = draw(st.sampled_from((1, 1, 1, 2)))
    return Input(kept, "float32", (*(1 for _ in kept[1:]), steps))


@settings(max_examples=60, deadline=None)
@given(st.data(), st.integers(2, 4), st.sampled_from(sorted(VALUES)), st.sampled_from(WIDTHS), st.integers(0, 99))
def test_values_are_those_of_the_naive_lowering(
    data: st.DataObject, rank: int, name: str, width: int, seed: int
) -> None:
    extents = data.draw(st.tuples(*[SIZES] * rank))
    inputs = [data.draw(operands(rank)) for _ in range(2)]
    nest = elementwise(VALUES[name], *inputs, rank=rank)
    compare(nest.function(extents), nest.arrays(extents, seed), ENGINES[width])


@settings(max_examples=20, deadline=None)
@given(st.sampled_from(("int8", "int32", "float64", "float16")), st.tuples(SIZES, SIZES), st.integers(0, 99))
def test_dtypes_are_converted_as_before(dtype: str, extents: tuple[int, int], seed: int) -> None:
    plane = Input((0, 1), dtype)
    nest = elementwise(lambda x: Cast(binary("+", x, x), "float32"), plane, rank=2)
    compare(nest.function(extents), nest.arrays(extents, seed), ENGINES[512])


ALL = Input((0, 1, 2))


@pytest.mark.parametrize(
    ("second", "loops"),
    [(ALL, 1), (Input((2,)), 2), (Input((0,)), 2), (Input((1,)), 3), (Input((0, 2, 1)), 3), (Input((1, 2)), 2)],
    ids=["alike", "a row", "the first axis", "the middle axis", "permuted", "a plane"],
)
def test_axes_that_step_alike_are_one_loop(second: Input, loops: int) -> None:
    nest = elementwise(VALUES["sum"], ALL, second, rank=3)
    function = nest.function((5, 7, 11))
    assert compare(function, nest.arrays((5, 7, 11), 0), ENGINES[256]) == ("collapse",)
    assert applied(function, ENGINES[256])["collapse"].startswith(f"applied: 3 loops become {loops},")


def test_a_collapsed_loop_pays_for_its_work() -> None:
    nest = elementwise(VALUES["sum"], ALL, ALL, rank=3)
    extents = (64, 64, 64)
    with pytest.raises(RunError) as caught:
        Engine(fuel=1000).kernel(nest.function(extents), "main")(*nest.arrays(extents, 0))
    assert caught.value.diagnostics[0].code == "JT015"
    Engine(fuel=10_000_000).kernel(nest.function(extents), "main")(*nest.arrays(extents, 0))


def test_an_output_that_is_also_read_is_as_before() -> None:
    nest = Accumulation(("spatial", "spatial"), (Input((0, 1)),), lambda x: x, lambda out, x: binary("+", out, x), None)
    arrays = nest.arrays((9, 33), 1)
    assert compare(nest.function((9, 33)), arrays, ENGINES[512]) == ("collapse",)
    assert not np.array_equal(arrays[-1], np.zeros((9, 33)))
