"""Sums of products in tiles: equal to the naive lowering bit for bit, whatever the shape and the values."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relax_core.diagnostics import DiagnosedError
from relax_core.frontend.parse import parse_text
from relax_core.ir.prim import Cast, FloatImm, IntImm, Intrinsic, PrimExpr, binary, const
from relax_core.ir.tir import BufferLoad
from relax_core.jit.engine import Engine
from relax_core.jit.options import KernelOptions
from tests.jit.low_level import prim_funcs
from tests.jit.programs import Make
from tests.jit.transforms.nests import ENGINES, WIDTHS, Accumulation, Input, applied, compare, filled

SIZES = st.sampled_from((0, 1, 2, 3, 5, 7, 8, 13, 16, 17, 31, 33, 64, 67, 130))
SINGLE, DOUBLE = "float32", "float64"
M, N, K = 0, 1, 2
B, P, Q, R = 0, 1, 2, 3


def zero(dtype: str) -> PrimExpr:
    return FloatImm(0.0, dtype) if dtype.startswith("float") else IntImm(0, dtype)


def added(out: PrimExpr, value: PrimExpr) -> PrimExpr:
    return binary("+", out, value)


def times(*factors: PrimExpr) -> PrimExpr:
    product = factors[0]
    for factor in factors[1:]:
        product = binary("*", product, factor)
    return product


def product(*inputs: Input, rank: int = 3, dtype: str = SINGLE, start: PrimExpr | None = None) -> Accumulation:
    """Sum the product of the inputs over the last axis."""
    kinds = ("spatial",) * (rank - 1) + ("reduce",)
    return Accumulation(kinds, inputs, times, added, start or zero(dtype), dtype)


def of(value: Make, dtypes: tuple[str, str], dtype: str = SINGLE) -> Accumulation:
    """Sum an expression of a row of one matrix and a column of another."""
    inputs = (Input((M, K), dtypes[0]), Input((K, N), dtypes[1]))
    return Accumulation(("spatial", "spatial", "reduce"), inputs, value, added, zero(dtype), dtype)


def beside(load: PrimExpr) -> PrimExpr:
    """Return the load of the first element of the same row."""
    assert isinstance(load, BufferLoad), "what is combined is loaded"
    return BufferLoad(load.buffer, (load.indices[0], const(0, "int64")))


def cast_to(dtype: str) -> Callable[[PrimExpr, PrimExpr], PrimExpr]:
    return lambda a, b: binary("*", Cast(a, dtype), Cast(b, dtype))


SUMS = {
    "matrix product": product(Input((M, K)), Input((K, N))),
    "second transposed": product(Input((M, K)), Input((N, K))),
    "first transposed": product(Input((K, M)), Input((K, N))),
    "both transposed": product(Input((K, M)), Input((N, K))),
    "columns first": product(Input((K, N)), Input((M, K))),
    "matrix times vector": product(Input((M, K)), Input((K,))),
    "batches": product(Input((B, P, R)), Input((B, R, Q)), rank=4),
    "batches of one matrix": product(Input((B, P, R)), Input((R, Q)), rank=4),
    "batches in the middle": product(Input((P, B, R)), Input((Q, B, R)), rank=4),
    "three factors": product(Input((M, K)), Input((K, N)), Input((N,))),
    "in steps": product(Input((M, K), steps=(2, 3)), Input((K, N), steps=(1, 2))),
    "doubles": product(Input((M, K), DOUBLE), Input((K, N), DOUBLE), dtype=DOUBLE),
    "doubles transposed": product(Input((M, K), DOUBLE), Input((N, K), DOUBLE), dtype=DOUBLE),
    "integers": product(Input((M, K), "int32"), Input((N, K), "int32"), dtype="int32"),
    "bytes": product(Input((M, K), "int8"), Input((K, N), "int8"), dtype="int8"),
    "into integers": of(cast_to("int32"), ("int8", "int8"), "int32"),
    "into floats": of(cast_to(SINGLE), ("float16", "float16")),
    "of a byte": of(lambda a, b: binary("*", a, Cast(b, SINGLE)), (SINGLE, "uint8")),
    "less a constant": of(
        lambda a, b: binary(
            "*", binary("-", Cast(a, "int32"), const(3, "int32")), binary("-", Cast(b, "int32"), const(-5, "int32"))
        ),
        ("uint8", "int8"),
        "int32",
    ),
    "into doubles": of(cast_to(DOUBLE), (SINGLE, SINGLE), DOUBLE),
    "of distances": of(lambda a, b: binary("*", binary("-", a, b), binary("-", a, b)), (SINGLE, SINGLE)),
    "greatest of products": Accumulation(
        ("spatial", "spatial", "reduce"),
        (Input((M, K)), Input((K, N))),
        lambda a, b: binary("*", a, b),
        lambda out, value: binary("max", out, value),
        FloatImm(-9.0, SINGLE),
    ),
    "greatest of products, the product first": Accumulation(
        ("spatial", "spatial", "reduce"),
        (Input((M, K)), Input((K, N))),
        lambda a, b: binary("*", a, b),
        lambda out, value: binary("max", value, out),
        FloatImm(-9.0, SINGLE),
    ),
    "the sum behind": Accumulation(
        ("spatial", "spatial", "reduce"),
        (Input((M, K)), Input((K, N))),
        lambda a, b: binary("*", a, b),
        lambda out, value: binary("+", value, out),
        zero(SINGLE),
    ),
    "without a start": Accumulation(
        ("spatial", "spatial", "reduce"),
        (Input((M, K)), Input((N, K))),
        lambda a, b: binary("*", a, b),
        added,
        None,
    ),
    "from a constant": product(Input((M, K)), Input((K, N)), start=FloatImm(-0.0, SINGLE)),
    "reduction outside": Accumulation(
        ("reduce", "spatial", "spatial", "reduce"),
        (Input((1, 0, 3)), Input((0, 3, 2))),
        lambda a, b: binary("*", a, b),
        added,
        zero(SINGLE),
    ),
    "two reductions": Accumulation(
        ("spatial", "spatial", "reduce", "reduce"),
        (Input((0, 3, 2)), Input((1, 2, 3))),
        lambda a, b: binary("*", a, b),
        added,
        zero(SINGLE),
    ),
}


@settings(max_examples=8, deadline=None)
@pytest.mark.parametrize("name", SUMS)
@given(data=st.data(), seed=st.integers(0, 1 << 16), width=st.sampled_from(WIDTHS))
def test_it_equals_the_naive_lowering(name: str, data: st.DataObject, seed: int, width: int) -> None:
    accumulation = SUMS[name]
    count = len(accumulation.kinds)
    sizes = SIZES if count == 3 else st.sampled_from((1, 2, 3, 5, 8, 17, 33))
    extents = data.draw(st.tuples(*[sizes] * count))
    names = compare(accumulation.function(extents), accumulation.arrays(extents, seed), ENGINES[width])
    if min(extents) > 1 and extents[-1] > 2 and name != "matrix times vector":
        assert "tile" in names


LARGE = {
    "a panel that is copied, in blocks": ("matrix product", (96, 24, 2080)),
    "rows a page apart": ("matrix product", (100, 1024, 20)),
    "a block that ends between two squares": ("second transposed", (13, 37, 1111)),
    "a block that no square divides": ("second transposed", (2, 100, 1024)),
    "few rows of a large matrix": ("matrix product", (2, 1300, 500)),
    "a row of a large matrix": ("matrix product", (1, 1300, 500)),
    "few rows of a large matrix, transposed": ("second transposed", (3, 1300, 500)),
    "a long sum": ("matrix product", (2, 3, 1100000)),
    "batches with a panel each": ("batches", (2, 100, 1024, 20)),
}


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", LARGE)
def test_large_ones_equal_the_naive_lowering(name: str, width: int) -> None:
    kind, extents = LARGE[name]
    accumulation = SUMS[kind]
    engine = Engine(options=KernelOptions(vector_bits=width, threads=1))
    assert compare(accumulation.function(extents), accumulation.arrays(extents, 7), engine) == ("tile",)


def test_fast_differs_by_rounding_only() -> None:
    accumulation, extents = SUMS["matrix product"], (20, 30, 40)
    arrays = accumulation.arrays(extents, 3)
    arrays = [np.nan_to_num(np.clip(array, -9, 9)) for array in arrays]
    exact, fast = ([array.copy() for array in arrays] for _ in range(2))
    function = accumulation.function(extents)
    ENGINES[512].kernel(function, "exact")(*exact)
    engine = Engine(options=KernelOptions(mode="fast"))
    engine.kernel(function, "fast")(*fast)
    np.testing.assert_allclose(fast[-1], exact[-1], rtol=1e-5, atol=1e-4)
    assert "fmuladd" in engine.kernel(function, "fast").llvm_ir()
    assert "fmuladd" not in ENGINES[512].kernel(function, "exact").llvm_ir()


@pytest.mark.parametrize("extents", [(64, 64, 64), (1, 2000, 700), (700, 16, 2000)])
def test_a_tile_pays_for_its_work(extents: tuple[int, int, int]) -> None:
    accumulation = SUMS["matrix product"]
    function, arrays = accumulation.function(extents), accumulation.arrays(extents, 1)
    rich = Engine(fuel=extents[0] * extents[1] * extents[2])
    rich.kernel(function, "f")(*arrays)
    poor = Engine(fuel=extents[0] * extents[1] * extents[2] // 100)
    with pytest.raises(DiagnosedError) as caught:
        poor.kernel(function, "f")(*arrays)
    assert caught.value.diagnostics[0].code == "JT015"


REFUSED = {
    "halves": (
        of(lambda a, b: binary("*", a, b), ("float16", "float16"), "float16"),
        "sums of float16 are rounded one by one",
    ),
    "a function": (
        of(lambda a, b: binary("*", Intrinsic("exp", (a,), SINGLE), b), (SINGLE, SINGLE)),
        "`Intrinsic` in the term is not computed in vectors",
    ),
    "an element that is read where another is written": (
        Accumulation(
            ("spatial", "spatial", "reduce"),
            (Input((M, K)), Input((K, N))),
            lambda a, b: binary("*", a, b),
            lambda out, value: binary("+", beside(out), value),
            zero(SINGLE),
        ),
        "it reads another element than it writes",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_says_why(name: str) -> None:
    accumulation, reason = REFUSED[name]
    function = accumulation.function((4, 5, 6))
    engine = Engine(options=KernelOptions(vector_bits=256))
    compare(function, accumulation.arrays((4, 5, 6), 0), engine)
    assert applied(function, engine)["tile"] == f"refused: {reason}"


HEAD = """@T.prim_func
def main(A: T.Buffer((3, 20, 30), "float32"), B: T.Buffer((30, 40), "float32"), C: T.Buffer((3, 20, 40), "float32")):
"""
LOOPS = {
    "plain loops": (
        "    for b, i, j, k in T.grid(3, 20, 40, 30):\n        C[b, i, j] = C[b, i, j] + A[b, i, k] * B[k, j]\n",
        ("tile",),
    ),
    "a nest in a loop": (
        "    for b in range(3):\n"
        "        for i, j in T.grid(20, 40):\n            C[b, i, j] = T.float32(0)\n"
        "        for i, j, k in T.grid(20, 40, 30):\n"
        "            C[b, i, j] = C[b, i, j] + A[2 - b, i, k] * B[k, j]\n",
        ("tile",),
    ),
    "a triangle": (
        "    for i in range(20):\n        for j, k in T.grid(40, i + 1):\n"
        "            C[0, i, j] = C[0, i, j] + A[0, i, k] * B[k, j]\n",
        (),
    ),
    "elements that are written several times": (
        "    for i, j, k in T.grid(20, 10, 30):\n        C[0, 0, i + j] = C[0, 0, i + j] + A[0, i, k] * B[k, j]\n",
        (),
    ),
    "what is written is read": (
        "    for i, j, k in T.grid(20, 40, 30):\n        C[0, i, j] = C[0, i, j] + C[1, i, k] * B[k, j]\n",
        (),
    ),
    "a choice by an index": (
        "    for i, j, k in T.grid(20, 39, 30):\n"
        "        C[0, i, j] = C[0, i, j] + A[0, i, k] * T.if_then_else(j + k < 60, B[k, j + 1], T.float32(2))\n",
        (),
    ),
    "a choice by two ends": (
        "    for i, j, k in T.grid(20, 40, 30):\n        C[0, i, j] = C[0, i, j] + "
        "A[0, i, k] * T.if_then_else(7 <= j + k and j + k < 47 and i >= 0, B[i, j + k - 7], T.float32(2))\n",
        ("tile",),
    ),
}  # fmt: skip


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", LOOPS)
def test_loops_are_taken_or_left(name: str, width: int) -> None:
    text, expected = LOOPS[name]
    random = np.random.default_rng(5)
    arrays = [filled(random, shape, SINGLE) for shape in ((3, 20, 30), (30, 40), (3, 20, 40))]
    names = compare(prim_funcs(HEAD + text)["main"], arrays, ENGINES[width])
    assert tuple(name for name in names if name == "tile") == expected


SKEWED = """
@T.prim_func
def main(A: T.Buffer((24, 4), "float32"), W: T.Buffer((24,), "float32"), C: T.Buffer((5, 4), "float32")):
    for i, j, k in T.grid(5, 4, 16):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            vk = T.axis.reduce(24, {binding})
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[{index}, vj] * W[{index}]
"""


@pytest.mark.parametrize(
    ("binding", "index"),
    [("k", "vk"), ("k + 1", "vk"), ("i + k", "vk"), ("i + k", "vk - vi"), ("i + k", "k"), ("i * 16 + k", "k")],
)
def test_a_reduction_starts_where_its_variable_is_0(binding: str, index: str) -> None:
    """Where a loop around the tiles is part of the variable, only its first iteration initialises."""
    function = parse_text(SKEWED.format(binding=binding, index=index), "skewed.py").modules[0].prim_funcs[0][1]
    random = np.random.default_rng(0)
    compare(function, [random.random(shape, "float32") for shape in ((24, 4), (24,), (5, 4))], ENGINES[256])
