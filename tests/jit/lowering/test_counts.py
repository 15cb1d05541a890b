"""Counts at the borders of their dtypes: a kernel runs as often as the text says, or says why not."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from relax_core.diagnostics import CompileError, RunError
from relax_core.jit.engine import Engine
from relax_core.jit.lowering.scalars.types import SCALAR_TYPES
from relax_core.jit.options import KernelOptions
from tests.jit.programs import parsed

FUEL = 100_000
NAIVE = KernelOptions(is_transformed=False)
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32")
NARROW_LIMITS = (1 << 7, 1 << 8, 1 << 15, 1 << 16, 1 << 31, 1 << 32, 1 << 63)
BORDERS = st.sampled_from(NARROW_LIMITS).flatmap(lambda at: st.integers(at - 3, at + 3)) | st.integers(0, 9)
NUMBERS = BORDERS.flatmap(lambda value: st.sampled_from((value, -value)))


def codes_of(function: str, *args: object, options: KernelOptions = NAIVE) -> tuple[str, ...]:
    """Run a kernel; return the codes of what it says, nothing if it ends."""
    try:
        Engine(fuel=FUEL, options=options).kernel(parsed(function), "f")(*args)
    except (CompileError, RunError) as error:
        return tuple(item.code for item in error.diagnostics)
    return ()


@pytest.mark.parametrize("is_transformed", [True, False])
@pytest.mark.parametrize(
    ("header", "code"),
    [
        ("for i in range(9223372036854775808)", "JT023"),
        ("for i in T.serial(T.int8(300))", "JT023"),
        ("for i in T.serial(T.int32(-2147483648), T.int32(2147483647))", "JT023"),
        ("for i in T.serial(T.uint64(18446744073709551615))", "JT021"),
        ("for i in T.serial(T.int32(65536) * T.int32(65536))", "JT021"),
        ("for i in T.serial(T.int64(9223372036854775807) + T.int64(1))", "JT021"),
        ("for i in T.serial(T.int8(n))", "JT021"),
        ("for i in range(n * n)", "JT021"),
        ("for i in range((n * n) // n)", "JT021"),
        ("for i in range(n * n * T.int64(0))", "JT021"),
        ("for i in T.serial(s, s + s)", "JT022"),
        ("for i in T.serial(s, s + T.int8(27))", ""),
        ("for i in T.serial(s, s + T.int8(28))", ""),
        ("for i in T.serial(s, s + T.int8(29))", "JT022"),
        ("for i, j, k in T.grid(2147483647, 2147483647, 2147483647)", "JT015"),
        ("for i, j in T.grid(n, n)", "JT015"),
    ],
)
def test_bounds_of_loops(header: str, code: str, is_transformed: bool) -> None:
    text = (
        f"def f(n: T.int64, s: T.int8, o: T.Buffer((1,), 'int64')):\n    {header}:\n        o[0] = o[0] + T.int64(1)\n"
    )
    out = np.zeros(1, "int64")
    options = KernelOptions(is_transformed=is_transformed)
    assert codes_of(text, 1 << 32, 100, out, options=options) == ((code,) if code else ())
    if not code:
        assert out[0] == int(header.rpartition("(")[2].rstrip(")"))


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(INTEGERS), NUMBERS, NUMBERS)
@example("int8", 127, 1)
@example("int64", (1 << 63) - 2, 1)
@example("int64", -(1 << 63), 3)
def test_the_values_of_a_loop_are_those_of_its_bounds(dtype: str, start: int, extent: int) -> None:
    scalar = SCALAR_TYPES[dtype]
    if not (scalar.low <= start <= scalar.high and scalar.low <= extent <= scalar.high):
        return
    text = f"""def f(a: T.{dtype}, e: T.{dtype}, o: T.Buffer((3,), "int64")):
    for i in T.serial(a, a + e):
        if o[0] == T.int64(0):
            o[1] = T.Cast("int64", i)
        o[0] = o[0] + T.int64(1)
        o[2] = T.Cast("int64", i)
"""
    out = np.zeros(3, "int64")
    codes = codes_of(text, start, extent, out)
    fits = scalar.low <= start + extent <= scalar.high + 1 and start + extent - 1 <= scalar.high
    if extent <= 0:
        assert codes in ((), ("JT021",))
        assert out[0] == 0
    elif not fits:
        assert codes in (("JT021",), ("JT022",))
        assert out[0] == 0
    elif extent > FUEL:
        assert codes == ("JT015",)
        assert out[1] == start
    else:
        assert codes == ()
        assert out.tolist() == [extent, start, start + extent - 1]


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(("int32", "int64", "uint32")), st.sampled_from("+-*"), NUMBERS, NUMBERS)
@example("int32", "*", 1 << 16, 1 << 16)
@example("int64", "*", 1 << 32, 1 << 32)
def test_the_arithmetic_of_an_extent_does_not_wrap_around(dtype: str, op: str, a: int, b: int) -> None:
    scalar = SCALAR_TYPES[dtype]
    if not (scalar.low <= a <= scalar.high and scalar.low <= b <= scalar.high):
        return
    text = f"""def f(a: T.{dtype}, b: T.{dtype}, o: T.Buffer((1,), "int64")):
    for i in T.serial(a {op} b):
        o[0] = o[0] + T.int64(1)
"""
    out = np.zeros(1, "int64")
    codes = codes_of(text, a, b, out)
    exact = {"+": a + b, "-": a - b, "*": a * b}[op]
    if not scalar.low <= exact <= scalar.high:
        assert codes == ("JT021",)
    elif exact > FUEL:
        assert codes == ("JT015",)
    else:
        assert (codes, out[0]) == ((), max(exact, 0))


@settings(max_examples=60, deadline=None)
@given(BORDERS, BORDERS, st.integers(0, 2))
def test_buffers_of_any_declared_size(n: int, m: int, at: int) -> None:
    if max(n, m) >= 1 << 63:
        return
    shape = ["2", f"T.int64({n})", f"T.int64({m})"]
    text = f"""def f(o: T.Buffer((1,), "int64")):
    A = T.alloc_buffer(({shape[at]}, {shape[at - 1]}, {shape[at - 2]}), "int64")
    o[0] = A[0, 0, 0] + T.int64(1)
"""
    out = np.zeros(1, "int64")
    codes = codes_of(text, out)
    exact = 2 * n * m * 8
    span = 2 * max(n, 1) * max(m, 1) * 8
    if span > (1 << 63) - 1:
        assert codes == ("JT024",)
    elif exact > 1 << 30:
        assert codes == ("JT017",)
    else:
        assert codes == (() if n and m else ("JT010",))


@pytest.mark.parametrize(
    ("dtype", "shape", "index", "size"),
    [
        ("int32", "(n * n,)", "0", 1 << 16),
        ("int64", "(n * n,)", "0", 1 << 32),
        ("int64", "(n, n)", "0, 0", 1 << 46),
        ("int64", "(2, n, n, n)", "0, 0, 0, 0", 1 << 32),
    ],
)
def test_views_of_computed_extents(dtype: str, shape: str, index: str, size: int) -> None:
    # A view that wrapped around to few elements, or to none, would pass as one that lies in its memory.
    text = f"""def f(n: T.{dtype}, A: T.Buffer((4,), "int64"), o: T.Buffer((1,), "int64")):
    V = T.decl_buffer({shape}, "int64", data=A.data)
    o[0] = V[{index}]
"""
    codes = codes_of(text, size, np.zeros(4, "int64"), np.zeros(1, "int64"))
    assert codes in (("JT021",), ("JT019",), ("JT024",))


WRAPPED = (
    ("T.int32", "(i * 65536 * 65536) // 65536"),
    ("T.int32", 'T.Cast("int64", i * 65536 * 65536) - T.Cast("int64", i) * T.int64(4294967296)'),
    ("T.int8", "i + T.int8(100)"),
    ("T.int8", "i * T.int8(100) // T.int8(100)"),
    ("T.int16", "i * T.int16(10000) // T.int16(10000)"),
    ("T.int16", "(i * T.int16(10000)) % T.int16(10000)"),
    ("T.uint8", "i * T.uint8(100) // T.uint8(100)"),
)


@pytest.mark.parametrize(("make", "index"), WRAPPED)
@pytest.mark.parametrize("rank", [1, 2])
def test_indices_that_wrap_around_are_those_of_the_loop_as_written(make: str, index: str, rank: int) -> None:
    head = f"for i in T.serial({make}(50))" if rank == 1 else f"for j, i in T.grid({make}(3), {make}(50))"
    text = f"""def f(A: T.Buffer((1048576,), "int32"), o: T.Buffer((3, 50), "int32")):
    {head}:
        o[{"0" if rank == 1 else "j"}, i] = A[{index}]
"""
    found: list[tuple[tuple[str, ...], list[int]]] = []
    for options in (KernelOptions(), NAIVE):
        out = np.zeros((3, 50), "int32")
        codes = codes_of(text, np.arange(1 << 20, dtype="int32"), out, options=options)
        found.append((codes, out.ravel().tolist()))
    assert found[0] == found[1]
