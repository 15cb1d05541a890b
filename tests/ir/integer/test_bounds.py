"""What is proven of values under assumptions holds for every value that a machine computes."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from relax_core.ir.integer.bounds import Bounds
from relax_core.ir.integer.interval import Interval, dtype_interval, wrap
from relax_core.ir.integer.strides import StrideReader
from relax_core.ir.prim import Binary, BinaryKind, IntImm, PrimExpr, PrimVar, dtype_of
from relax_core.ir.tir import Buffer, BufferLoad, Evaluate, For
from tests.ir.integer.machine import DTYPES, border, expressions, machine_value, ranges, within

VARIABLES = tuple(PrimVar(name, dtype) for dtype in DTYPES for name in "xy")
COMPARED: tuple[BinaryKind, ...] = ("<", "<=", ">", ">=", "==")


def holds(op: BinaryKind, a: int, b: int) -> bool:
    return {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "==": a == b}[op]


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_what_is_proven_of_an_expression_holds(data: st.DataObject) -> None:
    expr, intervals = data.draw(expressions(VARIABLES)), {var: data.draw(ranges(var.dtype)) for var in VARIABLES}
    values = {var: data.draw(within(intervals[var])) for var in VARIABLES}
    bounds = Bounds({})
    for var, (low, high) in intervals.items():
        bounds.bind_scalar(var)
        bounds.assume(Binary(">=", var, IntImm(low, var.dtype), "bool"))
        bounds.assume(Binary("<=", var, IntImm(high, var.dtype), "bool"))
    left, right = (data.draw(expressions(VARIABLES, dtype_of(expr), 1)) for _ in range(2))
    op = data.draw(st.sampled_from(COMPARED))
    try:
        computed = machine_value(expr, values)
        is_assumed = holds(op, machine_value(left, values), machine_value(right, values))
    except ZeroDivisionError:
        return
    bounds.assume(Binary(op, left, right, "bool"), truth=is_assumed)
    assert computed in bounds.interval(expr)
    assert bounds.constant(expr) in (None, computed)
    assert computed >= 0 or not bounds.is_nonnegative(bounds.poly(expr))
    limit = data.draw(border(dtype_of(expr)))
    buffer = Buffer("A", (IntImm(limit, dtype_of(expr)),), "int8")
    assert 0 <= computed < limit or not bounds.is_in_range(buffer, 0, expr)


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
@pytest.mark.parametrize("by", [-1, 0, 1])
def test_a_sum_at_the_limit_is_exact_just_if_it_fits(dtype: str, by: int) -> None:
    limits, x = dtype_interval(dtype), PrimVar("x", dtype)
    for end in (limits.high - 5, limits.low + 5):
        bounds = Bounds({})
        bounds.enter_loop(For(x, IntImm(end, dtype), IntImm(1, dtype), Evaluate(IntImm(0))))
        distance = (5 if end > 0 else -5) + (by if end > 0 else -by)
        made = Binary("+", x, IntImm(distance, dtype), dtype)
        assert bounds.is_exact(made) == (by < 1)
        assert bounds.interval(made) == (limits if by == 1 else Interval(end + distance, end + distance))


@settings(max_examples=200, deadline=None)
@given(st.data(), st.sampled_from(("int8", "int32", "int64", "uint8")))
def test_an_index_moves_by_its_stride(data: st.DataObject, dtype: str) -> None:
    """Wherever the index of two iterations is in range, it moves by the stride, even if its parts wrap around."""
    loop_var, other = PrimVar("i", dtype), PrimVar("n", dtype)
    index = data.draw(expressions((loop_var, other), dtype, 3))
    start, count = data.draw(st.integers(0, 9)), data.draw(st.integers(2, 40))
    bounds = Bounds({})
    bounds.bind_scalar(other)
    reader = StrideReader(bounds)
    loop = For(loop_var, IntImm(start, dtype), IntImm(count, dtype), Evaluate(IntImm(0)))
    reader.enter(loop)
    extent = min(1 << 20, dtype_interval(dtype).high)
    found = reader.of_access(BufferLoad(Buffer("A", (IntImm(extent),), "int8"), (index,)))
    assume(found is not None)
    assert found is not None
    stride, fixed = found[0].get(loop, {}), data.draw(border(dtype))

    def at(round_number: int) -> int | None:
        try:
            return machine_value(index, {loop_var: start + round_number, other: fixed})
        except ZeroDivisionError:
            return None

    first = data.draw(st.integers(0, count - 2))
    before, after = at(first), at(first + 1)
    if before is not None and after is not None and 0 <= before < extent and 0 <= after < extent and not any(stride):
        assert after - before == stride.get((), 0)


@given(st.data())
def test_a_number_of_a_loop_is_between_its_ends(data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from(DTYPES))
    start, extent = data.draw(border(dtype)), data.draw(border(dtype))
    bounds, var = Bounds({}), PrimVar("i", dtype)
    bounds.enter_loop(For(var, IntImm(start, dtype), IntImm(extent, dtype), Evaluate(IntImm(0))))
    for number in {0, extent // 2, extent - 1}:
        if 0 <= number < extent:
            assert wrap(start + number, dtype) in bounds.interval(var)


def test_a_remainder_is_below_its_divisor_and_a_choice_between_both() -> None:
    bounds, n = Bounds({}), PrimVar("n", "int64")
    bounds.bind_symbol(n)
    x: PrimExpr = PrimVar("x", "int64")
    assert isinstance(x, PrimVar)
    bounds.bind_scalar(x)
    rest = Binary("%", x, n, "int64")
    assert bounds.is_in_range(Buffer("A", (n,), "int8"), 0, rest)


@settings(max_examples=300, deadline=None)
@given(st.integers(1, 5), st.integers(-4, 4), st.tuples(*(st.integers(-6, 6) for _ in range(3))))
def test_what_is_proven_of_a_quotient_holds(divisor: int, offset: int, factors: tuple[int, int, int]) -> None:
    bounds, size = Bounds({}), PrimVar("h", "int64")
    bounds.bind_symbol(size)
    number = [IntImm(factor, "int64") for factor in (*factors, divisor, offset)]
    quotient = Binary("//", Binary("+", size, number[4], "int64"), number[3], "int64")
    terms = (Binary("*", number[0], quotient, "int64"), Binary("*", number[1], size, "int64"), number[2])
    total = Binary("+", Binary("+", terms[0], terms[1], "int64"), terms[2], "int64")
    if bounds.is_nonnegative(bounds.poly(total)):
        assert all(machine_value(total, {size: value}) >= 0 for value in range(40))


@pytest.mark.parametrize("window", [1, 2, 3, 5])
@pytest.mark.parametrize("stride", [1, 2, 3])
def test_the_last_window_of_a_pooling_lies_in_range(window: int, stride: int) -> None:
    bounds, size, out, at = Bounds({}), *(PrimVar(name, "int64") for name in ("h", "o", "w"))
    number = {value: IntImm(value, "int64") for value in (0, 1, window, stride)}
    bounds.bind_symbol(size)
    count = Binary("//", Binary("-", size, number[window], "int64"), number[stride], "int64")
    body = Evaluate(number[0])
    bounds.enter_loop(For(out, number[0], Binary("+", count, number[1], "int64"), body))
    bounds.enter_loop(For(at, number[0], number[window], body))
    index = Binary("+", Binary("*", out, number[stride], "int64"), at, "int64")
    assert bounds.is_in_range(Buffer("A", (size,)), 0, index)
    assert not bounds.is_in_range(Buffer("A", (Binary("-", size, number[1], "int64"),)), 0, index)
