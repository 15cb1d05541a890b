"""Copies in pieces: reshapes, concatenations, paddings and rows by index are equal to the naive lowering."""

import subprocess
import sys
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relax_core.diagnostics import RunError
from relax_core.ir.prim import FloatImm, PrimExpr, PrimVar, Select, binary, const
from relax_core.ir.tir import Buffer, BufferLoad, BufferStore, PrimFunc, Stmt
from relax_core.jit.engine import Engine
from relax_core.jit.options import KernelOptions
from relax_core.jit.transforms.copies.read import CopyDim, joined
from tests.code_rules import REPOSITORY
from tests.jit.programs import block_nest, for_each, index, prim_func, sizes_of
from tests.jit.transforms.nests import ENGINES, NAIVE, WIDTHS, applied, compare, filled, permuted

SINGLE = "float32"
WIDTH = st.sampled_from(WIDTHS)
RANDOM = np.random.default_rng(0)


def number(value: int) -> PrimExpr:
    return const(value, "int64")


def total(*terms: PrimExpr) -> PrimExpr:
    result = terms[0]
    for term in terms[1:]:
        result = binary("+", result, term)
    return result


def reshape(before: Sequence[int], after: Sequence[int], dtype: str, *, is_modulo_everywhere: bool) -> PrimFunc:
    """Make `Out[...] = In[digits of the place]`; the first digit needs no remainder."""
    variables = [index(f"i{axis}") for axis in range(len(after))]
    source, out = Buffer("In", tuple(map(number, before)), dtype), Buffer("Out", tuple(map(number, after)), dtype)
    strides = [int(np.prod(after[axis + 1 :])) for axis in range(len(after))]
    place = total(*(binary("*", var, number(stride)) for var, stride in zip(variables, strides, strict=True)))
    places: list[PrimExpr] = []
    for axis, extent in enumerate(before):
        digit = binary("//", place, number(int(np.prod(before[axis + 1 :]))))
        places.append(binary("%", digit, number(extent)) if axis or is_modulo_everywhere else digit)
    store = BufferStore(out, tuple(variables), BufferLoad(source, tuple(places)))
    return prim_func([source, out], for_each(variables, [number(extent) for extent in after], store))


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.sampled_from((2, 3, 4, 5, 12)), min_size=1, max_size=4),
    st.data(),
    st.sampled_from((SINGLE, "int8", "float64")),
    st.booleans(),
    WIDTH,
)
def test_reshapes(factors: list[int], data: st.DataObject, dtype: str, is_modulo: bool, width: int) -> None:
    other = data.draw(st.permutations(factors))
    before, after = (merged(data, shape) for shape in (factors, other))
    function = reshape(before, after, dtype, is_modulo_everywhere=is_modulo)
    source = filled(RANDOM, tuple(before), dtype)
    arrays = [source, np.zeros(after, dtype)]
    names = compare(function, arrays, ENGINES[width])
    assert names == ("copy",) or source.nbytes < 32
    ENGINES[width].kernel(function, "f")(*arrays)
    assert np.array_equal(arrays[1], source.reshape(after), equal_nan=True)


def merged(data: st.DataObject, factors: Sequence[int]) -> list[int]:
    """Multiply some neighbours."""
    found = [factors[0]]
    for factor in factors[1:]:
        if data.draw(st.booleans()):
            found[-1] *= factor
        else:
            found.append(factor)
    return found


@settings(max_examples=30, deadline=None)
@given(
    st.integers(1, 5),
    st.integers(1, 3000),
    st.sampled_from((SINGLE, "int8", "float16", "float64")),
    st.booleans(),
    WIDTH,
)
def test_runs(rows: int, columns: int, dtype: str, is_strided: bool, width: int) -> None:
    function = permuted((rows, columns), (0, 1), (1 + is_strided, 1), dtype)
    source = filled(RANDOM, (rows * (1 + is_strided), columns), dtype)
    compare(function, [source, filled(RANDOM, (rows, columns), dtype)], ENGINES[width])


def test_bytes_that_stand_for_true_are_copied_as_by_the_naive_lowering() -> None:
    source = np.arange(256, dtype="uint8").reshape(16, 16).view("bool")
    for order in ((0, 1), (1, 0)):
        compare(permuted((16, 16), order, (1, 1), "bool"), [source, np.zeros((16, 16), "bool")], ENGINES[256])


def padded(shape: tuple[int, int], before: tuple[int, int], behind: tuple[int, int]) -> PrimFunc:
    """Make a matrix with 7 around another one."""
    sizes = tuple(a + size + b for a, size, b in zip(before, shape, behind, strict=True))
    source, out = Buffer("In", tuple(map(number, shape))), Buffer("Out", tuple(map(number, sizes)))
    variables = [index("i"), index("j")]
    places = [binary("-", var, number(first)) for var, first in zip(variables, before, strict=True)]
    inside: PrimExpr | None = None
    for place, extent in zip(places, shape, strict=True):
        both = binary("and", binary("<=", number(0), place), binary("<", place, number(extent)))
        inside = both if inside is None else binary("and", inside, both)
    assert inside is not None
    value = Select(inside, BufferLoad(source, tuple(places)), FloatImm(7.0, SINGLE), SINGLE)
    store = BufferStore(out, tuple(variables), value)
    return prim_func([source, out], for_each(variables, [number(size) for size in sizes], store))


PADDING = st.tuples(st.integers(0, 3), st.integers(0, 3))


@settings(max_examples=25, deadline=None)
@given(st.tuples(st.integers(1, 9), st.integers(1, 70)), PADDING, PADDING, WIDTH)
def test_paddings(shape: tuple[int, int], before: tuple[int, int], behind: tuple[int, int], width: int) -> None:
    function = padded(shape, before, behind)
    arrays = [filled(RANDOM, item, SINGLE) for item in (shape, sum_of(shape, before, behind))]
    compare(function, arrays, ENGINES[width])
    ENGINES[width].kernel(function, "f")(*arrays)
    around = ((before[0], behind[0]), (before[1], behind[1]))
    assert np.array_equal(arrays[1], np.pad(arrays[0], around, constant_values=7), equal_nan=True)


def sum_of(*shapes: tuple[int, int]) -> tuple[int, int]:
    first, second = (sum(extents) for extents in zip(*shapes, strict=True))
    return first, second


def concatenation(sizes: Sequence[int], rows: int, axis: int) -> PrimFunc:
    """Make the concatenation of matrices along an axis, by a chain of choices as TVM does."""
    along = [index("i"), index("j")]
    starts = [sum(sizes[:position]) for position in range(len(sizes))]
    buffers = [
        Buffer(f"In{position}", (number(size), number(rows)) if axis == 0 else (number(rows), number(size)))
        for position, size in enumerate(sizes)
    ]
    value: PrimExpr | None = None
    for buffer, start in zip(buffers, starts, strict=True):
        place = binary("-", along[axis], number(start)) if start else along[axis]
        load = BufferLoad(buffer, (place, along[1]) if axis == 0 else (along[0], place))
        value = load if value is None else Select(binary("<=", number(0), place), load, value, SINGLE)
    assert value is not None
    dims = (number(sum(sizes)), number(rows)) if axis == 0 else (number(rows), number(sum(sizes)))
    out = Buffer("Out", dims)
    return prim_func([*buffers, out], for_each(along, dims, BufferStore(out, tuple(along), value)))


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(1, 40), min_size=2, max_size=4), st.integers(1, 20), st.integers(0, 1), WIDTH)
def test_concatenations(sizes: list[int], rows: int, axis: int, width: int) -> None:
    function = concatenation(sizes, rows, axis)
    shapes = [(size, rows) if axis == 0 else (rows, size) for size in sizes]
    sources = [filled(RANDOM, shape, SINGLE) for shape in shapes]
    out = np.zeros_like(np.concatenate(sources, axis))
    assert "split" in compare(function, [*sources, out], ENGINES[width])
    ENGINES[width].kernel(function, "f")(*sources, out)
    assert np.array_equal(out, np.concatenate(sources, axis), equal_nan=True)


def test_too_many_pieces_are_refused_with_the_reason() -> None:
    function = concatenation([2] * 30, 3, 1)
    assert applied(function, Engine())["split"] == "refused: there are more than 24 pieces"
    arrays = [filled(RANDOM, (3, 2), SINGLE) for _ in range(30)]
    compare(function, [*arrays, np.zeros((3, 60), SINGLE)], ENGINES[256])


REMAINDER = st.tuples(st.sampled_from((1, 1, 1, 2, -1, -3)), st.integers(-40, 40), st.integers(2, 40))


@settings(max_examples=60, deadline=None)
@given(st.tuples(st.integers(1, 60), st.integers(1, 60)), st.tuples(REMAINDER, REMAINDER), WIDTH)
def test_remainders_as_those_of_a_tiling_are_split_where_they_turn(
    shape: tuple[int, int], remainders: tuple[tuple[int, int, int], ...], width: int
) -> None:
    variables = (index("i"), index("j"))
    places = tuple(
        binary("%", total(binary("*", var, number(step)), number(first)), number(by))
        for var, (step, first, by) in zip(variables, remainders, strict=True)
    )
    source = Buffer("In", tuple(number(by) for _, _, by in remainders))
    out = Buffer("Out", tuple(map(number, shape)))
    store = BufferStore(out, variables, BufferLoad(source, places))
    function = prim_func([source, out], for_each(variables, out.shape, store))
    given_ = filled(RANDOM, tuple(by for _, _, by in remainders), SINGLE)
    compare(function, [given_, np.zeros(shape, SINGLE)], ENGINES[width])
    made = np.zeros(shape, SINGLE)
    ENGINES[width].kernel(function, "f")(given_, made)
    rows, columns = (
        (np.arange(extent) * step + first) % by for extent, (step, first, by) in zip(shape, remainders, strict=True)
    )
    assert np.array_equal(made, given_[np.ix_(rows, columns)], equal_nan=True)


def test_a_tiling_is_copied_in_runs() -> None:
    i, j = index("i"), index("j")
    source, out = Buffer("In", (number(20), number(64))), Buffer("Out", (number(40), number(128)))
    load = BufferLoad(source, (binary("%", i, number(20)), binary("%", j, number(64))))
    function = prim_func([source, out], for_each((i, j), out.shape, BufferStore(out, (i, j), load)))
    said = applied(function, Engine())
    assert said["split"] == "applied: 4 pieces, in each of which no remainder turns over"
    assert "runs of 256 bytes" in said["copy"]


def test_stores_whose_order_matters_are_not_split() -> None:
    i, j = index("i"), index("j")
    a, b, out = (Buffer(name, (number(20),)) for name in ("A", "B", "Out"))
    chosen = Select(binary("<", j, number(7)), BufferLoad(a, (j,)), BufferLoad(b, (j,)), SINGLE)
    # Each round of the outer loop stores the same elements, and where both sides differ by the outer loop it matters.
    by_round = Select(binary("<", i, number(2)), BufferLoad(a, (j,)), BufferLoad(b, (j,)), SINGLE)
    before = Select(
        binary("<", j, number(1)), BufferLoad(a, (j,)), BufferLoad(out, (binary("-", j, number(1)),)), SINGLE
    )
    for value, reason in ((chosen, "order"), (by_round, "order"), (before, "order")):
        loops = for_each((i, j), (number(5), number(20)), BufferStore(out, (j,), value))
        function = prim_func([a, b, out], loops)
        assert reason in applied(function, Engine())["split"]
        compare(function, [filled(RANDOM, (20,), SINGLE) for _ in range(3)], ENGINES[256])


def test_an_index_that_varies_by_a_variable_of_the_block_is_not_read_ahead() -> None:
    table, order, out = (
        Buffer("Table", (number(9),)),
        Buffer("Rows", (number(20),), "int32"),
        Buffer("Out", (number(20),)),
    )

    def body(i: PrimVar) -> tuple[Stmt, None]:
        return BufferStore(out, (i,), BufferLoad(table, (BufferLoad(order, (i,)),))), None

    function = prim_func([table, order, out], block_nest([("i", number(20), "spatial")], body))
    arrays = [filled(RANDOM, (9,), SINGLE), RANDOM.integers(0, 9, 20).astype("int32"), np.zeros(20, SINGLE)]
    assert "hoist" not in compare(function, arrays, ENGINES[256])


def take(rows: int, columns: int, count: int) -> PrimFunc:
    """Make `Out[i, j] = Table[Rows[i], j]`."""
    table, order = Buffer("Table", (number(rows), number(columns))), Buffer("Rows", (number(count),), "int32")
    out = Buffer("Out", (number(count), number(columns)))
    i, j = PrimVar("i", "int64"), PrimVar("j", "int64")
    store = BufferStore(out, (i, j), BufferLoad(table, (BufferLoad(order, (i,)), j)))
    return prim_func([table, order, out], for_each((i, j), (number(count), number(columns)), store))


@settings(max_examples=15, deadline=None)
@given(st.integers(1, 9), st.integers(0, 70), st.integers(0, 30), WIDTH)
def test_rows_by_index(rows: int, columns: int, count: int, width: int) -> None:
    table, order = filled(RANDOM, (rows, columns), SINGLE), RANDOM.integers(0, rows, count).astype("int32")
    names = compare(take(rows, columns, count), [table, order, np.zeros((count, columns), SINGLE)], ENGINES[width])
    assert ("hoist" in names) == (columns > 0)


@pytest.mark.parametrize("wrong", [-1, 5, 1 << 30])
def test_a_wrong_index_is_reported_as_by_the_naive_lowering(wrong: int) -> None:
    table, order = np.ones((5, 6), SINGLE), np.array([0, 4, wrong, 1], "int32")
    found: list[str] = []
    for engine in (NAIVE, ENGINES[512]):
        got = np.zeros((4, 6), SINGLE)
        with pytest.raises(RunError) as error:
            engine.kernel(take(5, 6, 4), "take")(table, order, got)
        found.append(str(error.value))
        assert got[:2].all()
        assert not got[2:].any()
    assert found[0] == found[1]
    assert f"{wrong}" in found[0]


@pytest.mark.parametrize(
    "function",
    [
        permuted((300, 400), (1, 0), (1, 1)),
        permuted((3, 400_000), (0, 1), (1, 1)),
        permuted((50_000, 16), (0, 1), (2, 1)),
        permuted((40, 40), (1, 0), (1, 1)),
    ],
    ids=["transpose", "long runs", "short runs", "few"],
)
def test_fuel_is_paid(function: PrimFunc) -> None:
    shapes = [sizes_of(param.buffer) for param in function.buffers]
    arrays = [np.zeros(shape, SINGLE) for shape in shapes]
    work = arrays[1].size
    for fuel, is_enough in ((work - 1, False), (2 * work, True)):
        engine = Engine(fuel=fuel, options=KernelOptions())
        if is_enough:
            engine.kernel(function, "f")(*arrays)
        else:
            with pytest.raises(RunError, match="JT015"):
                engine.kernel(function, "f")(*arrays)


def test_nothing_is_read_or_written_behind_an_array() -> None:
    ended = subprocess.run([sys.executable, "-m", "tests.jit.transforms.guarded"], check=False, cwd=REPOSITORY)
    assert ended.returncode == 0


def test_axes_that_step_alike_are_one() -> None:
    assert joined([CopyDim(2, 12, 12), CopyDim(3, 4, 4), CopyDim(4, 1, 1)]) == (CopyDim(24, 1, 1),)
    assert joined([CopyDim(2, 24, 12), CopyDim(1, 0, 0), CopyDim(12, 1, 1)]) == (CopyDim(2, 24, 12), CopyDim(12, 1, 1))
    assert joined([CopyDim(3, 1, 4), CopyDim(4, 3, 1)]) == (CopyDim(3, 1, 4), CopyDim(4, 3, 1))
