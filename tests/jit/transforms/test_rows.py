"""Reductions of rows in lanes: equal to the naive lowering bit for bit, whatever the shape and the values."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relax_core.ir.prim import BinaryKind, Cast, FloatImm, IntImm, Intrinsic, PrimExpr, Select, binary, const
from relax_core.ir.tir import IterKind
from tests.jit.programs import Make
from tests.jit.transforms.nests import ENGINES, WIDTHS, Accumulation, Input, compare

SIZES = st.sampled_from((0, 1, 2, 3, 5, 8, 13, 16, 17, 31, 64, 67, 130))
SINGLE, DOUBLE, HALF = "float32", "float64", "float16"


def start_of(op: BinaryKind, dtype: str) -> PrimExpr:
    value = {"*": 1, "max": 0 if dtype.startswith("uint") else -100, "min": 100}.get(op, 0)
    return FloatImm(float(value), dtype) if dtype.startswith("float") else IntImm(value, dtype)


def rows(op: BinaryKind, dtype: str, *, is_behind: bool = False, has_start: bool = True) -> Accumulation:
    """Reduce the rows of one matrix."""

    def combined(out: PrimExpr, value: PrimExpr) -> PrimExpr:
        return binary(op, value, out) if is_behind else binary(op, out, value)

    start = start_of(op, dtype) if has_start else None
    return Accumulation(("spatial", "reduce"), (Input((0, 1), dtype),), lambda x: x, combined, start, dtype)


def added(out: PrimExpr, value: PrimExpr) -> PrimExpr:
    return binary("+", out, value)


def sum_of(value: Make, *inputs: Input, dtype: str = SINGLE, is_placed: bool = False) -> Accumulation:
    """Sum an expression of several inputs over the rows."""
    start = start_of("+", dtype)
    return Accumulation(("spatial", "reduce"), inputs, value, added, start, dtype, is_placed=is_placed)


@pytest.mark.parametrize("is_behind", [False, True], ids=["output first", "value first"])
@pytest.mark.parametrize("op", ["-", "max", "min"])
@pytest.mark.parametrize("width", WIDTHS)
def test_the_order_of_the_operands_is_kept(op: BinaryKind, width: int, is_behind: bool) -> None:
    nest = rows(op, SINGLE, is_behind=is_behind)
    for seed in range(4):
        assert "rows" in compare(nest.function((20, 41)), nest.arrays((20, 41), seed), ENGINES[width])


MATRIX, ROW, COLUMN = Input((0, 1)), Input((1,)), Input((0,))
EXPRESSIONS = {
    "square": sum_of(lambda x: binary("*", x, x), MATRIX),
    "distance": sum_of(lambda x, m: binary("*", binary("-", x, m), binary("-", x, m)), MATRIX, COLUMN),
    "exponential": sum_of(lambda x, m: Intrinsic("exp", (binary("-", x, m),), SINGLE), MATRIX, COLUMN),
    "product with a row": sum_of(lambda x, w: binary("*", x, w), MATRIX, ROW),
    "wider": sum_of(lambda x: Cast(x, SINGLE), Input((0, 1), HALF)),
    "narrower": sum_of(lambda x: Cast(x, SINGLE), Input((0, 1), DOUBLE)),
    "of integers": sum_of(lambda x: Cast(x, SINGLE), Input((0, 1), "int8")),
    "every other column": sum_of(lambda x: x, Input((0, 1), SINGLE, (1, 2))),
    "of the place": sum_of(lambda x, i, j: binary("*", x, Cast(binary("-", i, j), SINGLE)), MATRIX, is_placed=True),
    "choice by place": sum_of(
        lambda x, i, j: Select(binary("<", j, i), x, const(2.0, SINGLE), SINGLE), MATRIX, is_placed=True
    ),
    "into doubles": sum_of(lambda x: Cast(x, DOUBLE), MATRIX, dtype=DOUBLE),
    "first place of a value": Accumulation(
        ("spatial", "reduce"),
        (MATRIX, COLUMN),
        lambda x, m, i, j: Select(binary("==", x, m), j, const(1000, "int64"), "int64"),
        lambda out, value: binary("min", out, value),
        IntImm((1 << 63) - 1, "int64"),
        "int64",
        is_placed=True,
    ),
}


@settings(max_examples=50, deadline=None)
@given(
    st.tuples(SIZES, SIZES),
    st.sampled_from(("+", "*", "-", "max", "min")),
    st.sampled_from((SINGLE, DOUBLE, HALF, "int32", "int8", "uint8")),
    st.sampled_from(WIDTHS),
    st.integers(0, 99),
    st.booleans(),
    st.booleans(),
)
def test_rows_of_loads(
    extents: tuple[int, int],
    op: BinaryKind,
    dtype: str,
    width: int,
    seed: int,
    is_behind: bool,
    has_start: bool,
) -> None:
    nest = rows(op, dtype, is_behind=is_behind, has_start=has_start)
    names = compare(nest.function(extents), nest.arrays(extents, seed), ENGINES[width])
    # A choice of few rows that fill vectors is made in lanes.
    is_taken = dtype.startswith("float") and extents[0] > 1 and extents[1] >= 8
    assert ("rows" in names) == (is_taken and "lanes" not in names)


@pytest.mark.parametrize("name", EXPRESSIONS)
@settings(max_examples=4, deadline=None)
@given(extents=st.tuples(SIZES, SIZES), width=st.sampled_from(WIDTHS), seed=st.integers(0, 99))
def test_rows_of_computed_values(name: str, extents: tuple[int, int], width: int, seed: int) -> None:
    nest = EXPRESSIONS[name]
    names = compare(nest.function(extents), nest.arrays(extents, seed), ENGINES[width])
    # A product of two matrices' elements is a contraction, which is tried first.
    assert names or nest.dtype == "int64" or extents[0] < 2 or extents[1] < 16


PRODUCTS = {
    "of floats": EXPRESSIONS["product with a row"],
    "of doubles": sum_of(lambda x, w: binary("*", x, w), Input((0, 1), DOUBLE), Input((1,), DOUBLE), dtype=DOUBLE),
    "of halves": sum_of(lambda x, w: binary("*", x, w), Input((0, 1), HALF), Input((1,), HALF), dtype=HALF),
    "of halves, added as floats": sum_of(
        lambda x, w: binary("*", Cast(x, SINGLE), w), Input((0, 1), HALF), Input((1,), SINGLE)
    ),
    "of bytes and a constant": sum_of(
        lambda x, w: binary("*", binary("*", Cast(x, SINGLE), w), const(0.1, SINGLE)), Input((0, 1), "int8"), ROW
    ),
    "of squares": EXPRESSIONS["square"],
}
# Rows that are a page apart, more rows and columns than are reduced at once, and between two payments of fuel.
LARGE = ((40, 1024), (37, 2048), (33, 515), (19, 5003), (8, 4096))


@pytest.mark.parametrize("name", PRODUCTS)
@settings(max_examples=20, deadline=None)
@given(
    extents=st.one_of(st.tuples(SIZES, SIZES), st.sampled_from(LARGE)),
    width=st.sampled_from(WIDTHS),
    seed=st.integers(0, 99),
    op=st.sampled_from(("+", "max")),
    has_start=st.booleans(),
)
def test_rows_of_products(
    name: str, extents: tuple[int, int], width: int, seed: int, op: BinaryKind, has_start: bool
) -> None:
    found = PRODUCTS[name]
    start = start_of(op, found.dtype) if has_start else None

    def combined(out: PrimExpr, value: PrimExpr) -> PrimExpr:
        return binary(op, out, value)

    nest = replace(found, combine=combined, start=start)
    names = compare(nest.function(extents), nest.arrays(extents, seed), ENGINES[width])
    assert names or extents[0] < 2 or extents[1] < 16


@settings(max_examples=10, deadline=None)
@given(extents=st.tuples(st.sampled_from((1, 2, 3)), SIZES, SIZES), width=st.sampled_from(WIDTHS))
def test_rows_of_products_in_a_batch(extents: tuple[int, int, int], width: int) -> None:
    kinds: tuple[IterKind, ...] = ("spatial", "spatial", "reduce")
    inputs = (Input((0, 1, 2)), Input((0, 2)))
    nest = Accumulation(kinds, inputs, lambda x, w: binary("*", x, w), added, start_of("+", SINGLE))
    compare(nest.function(extents), nest.arrays(extents, 1), ENGINES[width])


def test_products_are_computed_in_transposed_vectors() -> None:
    for name, nest in PRODUCTS.items():
        for width in WIDTHS:
            kernel = ENGINES[width].kernel(nest.function((64, 64)), name)
            kernel(*nest.arrays((64, 64), 0))
            (remark,) = (item for item in kernel.remarks() if item.transform == "rows")
            assert "computed in transposed vectors" in remark.reason, (name, width)


S, R = "spatial", "reduce"
SEVERAL: dict[str, tuple[tuple[IterKind, ...], Input]] = {
    "image": ((S, S, R, R), Input((0, 1, 2, 3))),
    "image, columns first": ((S, S, R, R), Input((0, 1, 3, 2))),
    "image with steps": ((S, S, R, R), Input((0, 1, 2, 3), SINGLE, (1, 1, 2, 1))),
    "reduced outside": ((R, S, R), Input((1, 0, 2))),
    "reduced before": ((R, S), Input((1, 0))),
}


@pytest.mark.parametrize("name", SEVERAL)
@settings(max_examples=4, deadline=None)
@given(data=st.data(), width=st.sampled_from(WIDTHS), seed=st.integers(0, 99))
def test_several_axes(name: str, data: st.DataObject, width: int, seed: int) -> None:
    kinds, read = SEVERAL[name]
    extents = tuple(data.draw(st.sampled_from((1, 2, 3, 5, 18))) for _ in kinds)
    nest = Accumulation(kinds, (read,), lambda x: binary("*", x, x), added, start_of("+", SINGLE))
    compare(nest.function(extents), nest.arrays(extents, seed), ENGINES[width])
