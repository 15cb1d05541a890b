"""Reductions of columns in lanes: equal to the naive lowering bit for bit, whatever the shape and the values."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relax_core.diagnostics import RunError
from relax_core.ir.prim import BinaryKind, Cast, Intrinsic, PrimExpr, Select, binary, const
from relax_core.ir.tir import BufferLoad, IterKind
from relax_core.jit.engine import Engine
from tests.jit.programs import Make
from tests.jit.transforms.nests import ENGINES, WIDTHS, Accumulation, Input, applied, compare
from tests.jit.transforms.test_rows import DOUBLE, HALF, SINGLE, added, start_of

S: IterKind = "spatial"
R: IterKind = "reduce"
SIZES = st.sampled_from((0, 1, 2, 3, 5, 8, 16, 17, 33, 64, 70, 130))
FEW = st.sampled_from((0, 1, 2, 3, 5))
WIDTH = st.sampled_from(WIDTHS)


@settings(max_examples=40, deadline=None)
@given(
    st.tuples(FEW, FEW, SIZES),
    st.sampled_from(((R, S), (S, R, S), (S, S, R), (R, R, S))),
    st.sampled_from(("-", "*", "max", "min")),
    st.sampled_from((SINGLE, DOUBLE, HALF, "int32", "int8")),
    WIDTH,
    st.integers(0, 99),
    st.booleans(),
    st.booleans(),
)
def test_columns_of_loads(
    sizes: tuple[int, int, int],
    kinds: tuple[IterKind, ...],
    op: BinaryKind,
    dtype: str,
    width: int,
    seed: int,
    has_start: bool,
    is_behind: bool,
) -> None:
    extents = sizes[-len(kinds) :]
    # The innermost axis of the input is the last spatial one, wherever the loops over it stand.
    spatial = [axis for axis, kind in enumerate(kinds) if kind == S]
    axes = (*(axis for axis in range(len(kinds)) if axis != spatial[-1]), spatial[-1])
    nest = Accumulation(
        kinds,
        (Input(axes, dtype),),
        lambda x: x,
        lambda out, value: binary(op, value, out) if is_behind else binary(op, out, value),
        start_of(op, dtype) if has_start else None,
        dtype,
    )
    names = compare(nest.function(extents), nest.arrays(extents, seed), ENGINES[width])
    assert "columns" in names or min(extents) == 0 or extents[spatial[-1]] < 4


MATRIX, ROW, COLUMN = Input((0, 1)), Input((1,)), Input((0,))
# value, inputs, dtype of the sum
COMPUTED: dict[str, tuple[Make, tuple[Input, ...], str]] = {
    "distance": (lambda x, m: binary("*", binary("-", x, m), binary("-", x, m)), (MATRIX, ROW), SINGLE),
    "exponential": (lambda x, m: Intrinsic("exp", (binary("-", x, m),), SINGLE), (MATRIX, COLUMN), SINGLE),
    "wider": (lambda x: Cast(x, DOUBLE), (MATRIX,), DOUBLE),
    "from bytes": (lambda x: Cast(x, "int32"), (Input((0, 1), "int8"),), "int32"),
    "of the place": (lambda x, k, j: Select(binary("<", j, k), x, const(2.0, SINGLE), SINGLE), (MATRIX,), SINGLE),
}


@pytest.mark.parametrize("name", COMPUTED)
@settings(max_examples=4, deadline=None)
@given(extents=st.tuples(SIZES, SIZES), width=WIDTH, seed=st.integers(0, 99))
def test_columns_of_computed_values(name: str, extents: tuple[int, int], width: int, seed: int) -> None:
    value, inputs, dtype = COMPUTED[name]
    start, is_placed = start_of("+", dtype), name == "of the place"
    nest = Accumulation((R, S), inputs, value, added, start, dtype, is_placed=is_placed)
    names = compare(nest.function(extents), nest.arrays(extents, seed), ENGINES[width])
    assert "columns" in names or min(extents) == 0 or extents[1] < 4


def test_fuel_is_paid() -> None:
    nest = Accumulation((R, S), (MATRIX,), lambda x: x, added, start_of("+", SINGLE))
    function, arrays = nest.function((2000, 100)), nest.arrays((2000, 100), 0)
    Engine(fuel=800_000).kernel(function, "sum")(*arrays)
    with pytest.raises(RunError, match="JT015"):
        Engine(fuel=199_999).kernel(function, "sum")(*arrays)


def test_a_value_that_reads_another_output_is_refused_with_the_reason() -> None:
    def combined(out: PrimExpr, value: PrimExpr) -> PrimExpr:
        assert isinstance(out, BufferLoad)
        return binary("+", out, binary("*", value, BufferLoad(out.buffer, (const(0, "int64"),))))

    nest = Accumulation((R, S), (MATRIX,), lambda x: x, combined, start_of("+", SINGLE))
    function = nest.function((8, 8))
    assert applied(function, Engine())["columns"] == "refused: its value may read an output"
    assert compare(function, nest.arrays((8, 8), 0), ENGINES[256]) == ()
