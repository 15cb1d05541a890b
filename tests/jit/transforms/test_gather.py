"""Elements read in vectors at places that are data: values, violations and what is written before one stay the same."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relax_core.ir.tir import PrimFunc
from relax_core.jit.engine import Engine
from relax_core.jit.options import KernelOptions
from tests.jit.programs import parsed
from tests.jit.transforms.nests import NAIVE, WIDTHS, Array, agree, applied, assert_alike, outcome

ENGINES = {width: Engine(options=KernelOptions(vector_bits=width, threads=1)) for width in WIDTHS}
HEAD = """def main(table: T.handle, first: T.handle, second: T.handle, pairs: T.handle, other: T.handle, out: T.handle):
    n, m, k = T.int64(), T.int64(), T.int64()
    Table = T.match_buffer(table, (m, k), "{element}")
    First = T.match_buffer(first, (n, k), "{index}")
    Second = T.match_buffer(second, (n, k), "int64")
    Pairs = T.match_buffer(pairs, (n, k, 2), "int64")
    Other = T.match_buffer(other, (n, k), "{element}")
    Out = T.match_buffer(out, (n, k), "{element}")
"""
# A store for each element (i, j) of the output.
STORES = {
    "elements": "Out[i, j] = Table[First[i, j], j]",
    "counted from the end": (
        "Out[i, j] = Table[T.if_then_else(Second[i, j] < T.int64(0), Second[i, j] + m, Second[i, j]), j]"
    ),
    "pairs": "Out[i, j] = Table[Pairs[i, j, 0], Pairs[i, j, 1]]",
    "the second of pairs": "Out[i, j] = Table[Pairs[i, j, 1], j]",
    "two indices": "Out[i, j] = Table[First[i, j], Second[i, j]]",
    "a place of another row": "Out[i, j] = Table[i % m, Second[i, j]]",
    "an index behind an index": "Out[i, j] = Table[First[Second[i, j], j], Second[First[i, j], j]]",
    "sums and products": "Out[i, j] = Table[First[i, j], j] * Other[i, j] + Table[First[i, j], k - 1 - j] * scale",
    "the smaller of two": "Out[i, j] = T.min(Table[First[i, j], j], Other[i, j])",
    "a choice": "Out[i, j] = T.Select(Other[i, j] < scale, Other[i, j], Table[First[i, j], j])",
    "an index that is computed": "Out[i, j] = Table[T.max(Second[i, j] - T.int64(1), T.int64(0)), j]",
    "an element beside": "Out[i, j] = Table[First[i, j], j] - Other[n - 1 - i, j]",
}
# What is taken apart for any sizes: there the rows may be none that another index is divided by.
GATHERED = frozenset(STORES) - {"a choice", "a place of another row"}
NESTS = {
    "two loops": """
    for i, j in T.grid(n, k):
        {store}
""",
    "blocks": """
    for y, x in T.grid(n, k):
        with T.sblock("gather"):
            i, j = T.axis.remap("SS", [y, x])
            {store}
""",
    "loops that start later": """
    for i in range(n):
        for j in T.serial(T.min(T.int64(1), k), k):
            {store}
""",
}
ELEMENTS, INDICES = ("float32", "float64", "int32", "float16", "int8"), ("int64", "int32", "uint8", "int16")
# Around whole vectors, several of them, and short rows.
SHAPES = st.sampled_from(((3, 0), (5, 7), (4, 16), (5, 16), (3, 32), (2, 67), (1, 300), (9, 8)))
ROWS = 9
WRONG = st.sampled_from((0, ROWS - 1, ROWS, -1, -ROWS, -ROWS - 1, 255, 1 << 31, -(1 << 31), 1 << 62)) | st.integers(
    -12, 99
)
# The first, the last, one in the middle.
PLACES = st.sampled_from((0, -1)) | st.integers(0, 700)


def function_of(name: str, nest: str, element: str, index: str) -> PrimFunc:
    """Make the prim func of a store in a nest."""
    scale = (
        f'T.Cast("{element}", T.float32(0.5))' if element.startswith("float") else f'T.Cast("{element}", T.int32(3))'
    )
    body = NESTS[nest].format(store=STORES[name].replace("scale", scale))
    return parsed(HEAD.format(element=element, index=index) + body)


def arrays_of(seed: int, shape: tuple[int, int], element: str, index: str) -> list[Array]:
    """Make arguments all of whose indices are in range."""
    random, (n, k) = np.random.default_rng(seed), shape
    high = max(min(n, k, ROWS), 1)
    table, other, out = ((random.standard_normal(dims) * 9).astype(element) for dims in ((ROWS, k), shape, shape))
    first, second = random.integers(0, high, shape).astype(index), random.integers(0, high, shape)
    return [table, first, second, random.integers(0, high, (n, k, 2)), other, out]


@pytest.mark.parametrize("name", STORES)
@settings(max_examples=7, deadline=None)
@given(
    SHAPES,
    st.lists(st.tuples(PLACES, WRONG), max_size=3),
    st.tuples(st.sampled_from([*NESTS]), st.sampled_from(ELEMENTS), st.sampled_from(INDICES)),
    st.sampled_from(WIDTHS),
    st.booleans(),
)
def test_all_is_as_in_the_naive_lowering(
    name: str,
    shape: tuple[int, int],
    wrong: list[tuple[int, int]],
    kind: tuple[str, str, str],
    width: int,
    is_generic: bool,
) -> None:
    nest, element, index = kind
    arrays = arrays_of(sum(shape), shape, element, index)
    for number, (place, value) in enumerate(wrong):
        target = arrays[1 + number].reshape(-1)
        if target.size:
            target[place % target.size] = np.int64(value).astype(target.dtype)
    assert_alike(ENGINES[width], function_of(name, nest, element, index), arrays, is_generic=is_generic)


@pytest.mark.parametrize("nest", NESTS)
@pytest.mark.parametrize("name", sorted(GATHERED))
def test_it_is_applied(name: str, nest: str) -> None:
    function = function_of(name, nest, "float32", "int32")
    assert outcome(ENGINES[512], function, arrays_of(0, (40, 67), "float32", "int32"), is_generic=False) == ""
    assert "read at once" in applied(function, ENGINES[512]).get("gather", "")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("columns", [16, 32, 67, 256])
@pytest.mark.parametrize("where", [(0, 0), (0, -1), (4, 5), (2, 15), (-1, 0), (-1, -1)])
def test_each_place_is_checked(where: tuple[int, int], columns: int, width: int) -> None:
    function = FUNCTIONS["elements"]
    arrays = arrays_of(1, (6, columns), "float32", "int64")
    arrays[1][where] = ROWS
    arrays[1][-1, -1] = -1
    found = assert_alike(ENGINES[width], function, arrays, is_generic=False)
    row, column = (at % size for at, size in zip(where, arrays[1].shape, strict=True))
    value = arrays[1][where]
    assert f"First[i, j] = {value}, but Table has 9 rows (load at i = {row}, j = {column})" in found


FUNCTIONS = {name: function_of(name, "two loops", "float32", "int64") for name in STORES}


@pytest.mark.parametrize(
    ("element", "index", "columns"), [("float32", "int64", 16), ("float64", "int32", 23), ("int32", "uint8", 64)]
)
def test_elements_of_a_short_row_are_taken_from_a_vector(element: str, index: str, columns: int) -> None:
    for size in (1, 8, 13, 16, 17):
        function = parsed(SHORT.format(size=size, element=element, index=index))
        random = np.random.default_rng(size)
        places = random.integers(0, size, (6, columns)).astype(index)
        arrays = [random.integers(0, 99, (6, size)).astype(element), places, np.zeros((6, columns), element)]
        assert_alike(ENGINES[512], function, arrays, is_generic=False)
        kernel = ENGINES[512].kernel(function, "f")
        kernel(*arrays)
        is_row = size <= 512 // (8 * arrays[0].itemsize)
        assert ("lie in a vector" in kernel.remarks()[0].reason) == is_row
        assert ("masked.gather" in kernel.llvm_ir()) != is_row
        places[4, 11] = size
        assert "Row[i, Place[i, j]]" in assert_alike(ENGINES[512], function, arrays, is_generic=False)


SHORT = """def main(row: T.handle, place: T.handle, out: T.handle):
    n, k = T.int64(), T.int64()
    Row = T.match_buffer(row, (n, {size}), "{element}")
    Place = T.match_buffer(place, (n, k), "{index}")
    Out = T.match_buffer(out, (n, k), "{element}")
    for i, j in T.grid(n, k):
        Out[i, j] = Row[i, Place[i, j]]
"""


@pytest.mark.parametrize("dtype", INDICES)
def test_no_index_of_its_dtype_passes_for_another(dtype: str) -> None:
    function = function_of("elements", "two loops", "float32", dtype)
    for value in (ROWS - 1, ROWS, 127, 128, 255, 256, 32767, -1, -128, 1 << 31, -(1 << 31), -(1 << 63)):
        arrays = arrays_of(2, (2, 40), "float32", dtype)
        arrays[1][1, 33] = np.int64(value).astype(dtype)
        found = assert_alike(ENGINES[512], function, arrays, is_generic=False)
        assert (found == "") == (0 <= int(arrays[1][1, 33]) < ROWS)


def test_what_it_reads_and_writes_is_left_as_it_stands() -> None:
    function = parsed("""def main(links: T.handle):
    n = T.int64()
    Links = T.match_buffer(links, (n,), "int64")
    for i in range(n):
        Links[i] = Links[Links[i]]
""")
    links = np.arange(64)[::-1].copy()
    expected = links.copy()
    outcome(NAIVE, function, [expected], is_generic=False)
    assert outcome(ENGINES[512], function, [links], is_generic=False) == ""
    assert "gather" not in applied(function, ENGINES[512])
    assert agree(links, expected)
