"""A kernel's builtin does what the kernel does: same values, same diagnostics, on whatever it is given."""

import gc
import sys
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relax_core.analysis.tir_memory import memory_of
from relax_core.diagnostics import RunError
from relax_core.ir.prim import PrimVar
from relax_core.ir.tir import BufferStore, PrimFunc
from relax_core.jit.calls import builtin
from relax_core.jit.engine import Engine
from relax_core.jit.kernel import BUILTIN_ENTRIES
from relax_core.jit.lowering.known.coverage import writes_all
from tests.jit.programs import Buffer, added, integer, parsed, prim_func, row_sum, tir_matmul
from tests.narrow import is_array

ENGINE = Engine()
Array = npt.NDArray[Any]


def outcome(call: Callable[..., object], args: tuple[Any, ...]) -> object:
    """Return what a call gives: the bytes of all arrays behind it, or its diagnostics."""
    memory = [np.array(arg, copy=True) if is_array(arg) else arg for arg in args]
    try:
        result = call(*args)
    except RunError as error:
        result = error.diagnostics
    after = [arg.tobytes() if isinstance(arg, np.ndarray) else arg for arg in args]
    for arg, before in zip(args, memory, strict=True):
        if isinstance(arg, np.ndarray) and arg.flags.writeable:
            arg[...] = before
    return result, after


def test_a_call_like_one_before_does_not_go_through_python(slow_calls: list[object]) -> None:
    call = Engine().kernel(added(), "added").caller()
    for length in (3, 5, 0, 3, 5, 0):
        a, out = np.arange(length, dtype="float32"), np.zeros(length, "float32")
        assert call(a, a, out) is None
        assert out.tolist() == [2.0 * item for item in range(length)]
    assert len(slow_calls) == 3


def swapped(array: Array) -> Array:
    return array.view(array.dtype.newbyteorder())


class Placed(np.ndarray[Any, Any]):
    """An array of another class."""


def fixed(array: Array) -> Array:
    array.flags.writeable = False
    return array


def misaligned(array: Array) -> Array:
    memory = np.zeros(array.nbytes + 1, "uint8")[1:]
    return memory.view(array.dtype).reshape(array.shape)


MUTATIONS: dict[str, Callable[[Array], object]] = {
    "as it is": lambda array: array,
    "of another dtype": lambda array: array.astype("float64"),
    "of the other byte order": swapped,
    "of more dimensions": lambda array: array[None],
    "of fewer dimensions": lambda array: array[0] if array.ndim and array.shape[0] else array,
    "longer": lambda array: np.zeros([extent + 1 for extent in array.shape], array.dtype),
    "reversed": lambda array: array[::-1] if array.ndim else array,
    "transposed": lambda array: array.T,
    "read-only": fixed,
    "misaligned": misaligned,
    "of another class": lambda array: array.view(Placed),
    "a list": lambda array: array.tolist(),
    "a number": lambda array: 1.5,
    "nothing": lambda array: None,
}


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.integers(0, 4), max_size=3),
    st.sampled_from(["float32", "float64", "int8", "float16", "bool"]),
    st.lists(st.sampled_from(sorted(MUTATIONS)), min_size=3, max_size=3),
    st.sampled_from(["distinct", "one array", "overlapping", "one too few", "one too many"]),
)
def test_the_builtin_does_what_the_kernel_does(shape: list[int], dtype: str, changes: list[str], how: str) -> None:
    call_kernel = ENGINE.kernel(added(dtype, len(shape)), "added")
    call_builtin = call_kernel.caller()
    arrays = [np.arange(3 * np.prod(shape, dtype=int), dtype="int8").astype(dtype) for _ in range(3)]
    plain = tuple(array[: np.prod(shape, dtype=int)].reshape(shape) for array in arrays)
    call_builtin(*plain)
    args: tuple[Any, ...] = tuple(MUTATIONS[name](array) for name, array in zip(changes, plain, strict=True))
    match how:
        case "one array":
            args = (args[0], args[0], args[0])
        case "overlapping" if plain[0].size:
            args = (args[0], arrays[0][1 : 1 + plain[0].size].reshape(shape), plain[0])
        case "one too few":
            args = args[:-1]
        case "one too many":
            args = (*args, args[0])
        case _:
            pass
    expected = outcome(call_kernel, args)
    assert outcome(call_builtin, args) == expected
    assert outcome(call_builtin, args) == expected


@pytest.mark.parametrize("position", range(3))
@pytest.mark.parametrize("name", sorted(MUTATIONS))
def test_one_argument_that_differs_is_seen(name: str, position: int) -> None:
    kernel = ENGINE.kernel(added(rank=2), "added")
    call = kernel.caller()
    args: list[Any] = [np.arange(12, dtype="float32").reshape(3, 4) for _ in range(3)]
    call(*args)
    args[position] = MUTATIONS[name](args[position])
    expected = outcome(kernel, tuple(args))
    assert outcome(call, tuple(args)) == expected


@pytest.mark.parametrize("distance", [1, 3, 16])
def test_arrays_that_overlap_are_run_in_order(distance: int) -> None:
    kernel = ENGINE.kernel(added(), "added")
    call = kernel.caller()
    line = np.arange(128, dtype="float32") ** 2
    ones, length = np.ones(128 - distance, "float32"), 128 - distance
    call(ones, ones, np.zeros_like(ones))
    for args in ((line[:length], ones, line[distance:]), (ones, line[:length], line[distance:])):
        assert outcome(call, args) == outcome(kernel, args)
    assert outcome(call, (line[:length], ones, line[distance:])) != outcome(
        call, (line[:length].copy(), ones, line[distance:].copy())
    )


def stores(dtype: str) -> PrimFunc:
    value, out = PrimVar("value", dtype), Buffer("Out", (integer(1),), dtype)
    return prim_func([out], BufferStore(out, (integer(0),), value), [value])


SCALARS = (0, -1, 127, 128, 255, 256, 2**31, 2**62, 2**63, 2**64 - 1, 2**64, True, np.int64(3), np.float32(2.5), 1.5)
FLOATS = (0.1, -0.0, float("inf"), float("nan"), 3.4028235677973362e38, 3.4028235677973366e38, 1e-45, -1e300)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64", "bool", "float16", "float32", "float64"])
def test_a_number_is_checked_and_passed_as_the_kernel_does(dtype: str) -> None:
    kernel, out = ENGINE.kernel(stores(dtype), "stores"), np.zeros(1, dtype)
    call = kernel.caller()
    call(out, 1)
    for value in (*SCALARS, *FLOATS, "text", None):
        assert str(outcome(call, (out, value))) == str(outcome(kernel, (out, value))), value


def test_a_number_that_is_a_size_selects_the_code(slow_calls: list[object]) -> None:
    text = """def f(n: T.int64, out: T.handle):
    Out = T.match_buffer(out, (n,), "float32")
    for i in range(n):
        Out[i] = T.Cast("float32", n)
"""
    call = Engine().kernel(parsed(text), "f").caller()
    for length in (2, 3, 2, 3):
        out = np.zeros(length, "float32")
        call(length, out)
        assert out.tolist() == [length] * length
    assert len(slow_calls) == 2
    with pytest.raises(RunError, match="JT006"):
        call(2, np.zeros(3, "float32"))


TEMPORARY = """def f(A: T.Buffer((1000,), "float32"), B: T.Buffer((1000,), "float32")):
    C = T.alloc_buffer((1000,))
    D = T.alloc_buffer((3, 700), "int64")
    for i in range(1000):
        C[i] = C[i] + A[i] + T.Cast("float32", D[2, 5])
    D[2, 5] = T.int64(7)
    for i in range(1000):
        B[i] = C[i] * T.float32(2)
"""


FILLED = """def f(A: T.Buffer((1000,), "float32"), B: T.Buffer((1000,), "float32")):
    C = T.alloc_buffer((1000,))
    D = T.alloc_buffer((20, 1000), "int64")
    for i in range(1000):
        C[i] = A[i] + T.float32(1)
    for i in range(1000):
        B[i] = C[999 - i] + T.Cast("float32", D[19, i])
        D[19, i] = T.int64(3)
"""


def test_a_temporary_that_is_written_first_may_hold_anything_before(slow_calls: list[object]) -> None:
    kernel = Engine().kernel(parsed(FILLED), "f")
    call = kernel.caller()
    a = np.arange(1000, dtype="float32")
    for _ in range(50):
        out = np.full(1000, np.nan, "float32")
        call(a, out)
        assert (out == a[::-1] + 1).all()
    assert len(slow_calls) == 1
    allocated = memory_of(kernel.function).allocated
    assert {item.name: writes_all(kernel.function, item, {}) for item in allocated} == {"C": True, "D": False}


def test_temporaries_are_zero_at_every_start(slow_calls: list[object]) -> None:
    call = Engine().kernel(parsed(TEMPORARY), "f").caller()
    a = np.arange(1000, dtype="float32")
    for _ in range(5):
        out = np.zeros(1000, "float32")
        call(a, out)
        assert (out == 2 * a).all()
    assert len(slow_calls) == 1


ANY_SIZE = """def f(a: T.handle, index: T.handle, out: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n,), "float32")
    Index = T.match_buffer(index, (n,), "int64")
    Out = T.match_buffer(out, (n,), "float32")
    C = T.alloc_buffer((n,))
    for i in range(n):
        C[i] = C[i] + A[Index[i]]
    for i in range(n):
        Out[i] = C[n - 1 - i]
"""


def test_code_for_any_sizes_is_run_by_a_builtin_for_the_sizes_before(slow_calls: list[object]) -> None:
    kernel = Engine().kernel(parsed(ANY_SIZE), "f")
    kernel.specialised_variants = 2
    call = kernel.caller()
    for round_ in range(3):
        for length in range(1, BUILTIN_ENTRIES + 4):
            a, index, out = np.arange(length, dtype="float32"), np.arange(length), np.full(length, 7, "float32")
            call(a, index, out)
            assert out.tolist() == a[::-1].tolist()
            index[-1] = length
            with pytest.raises(RunError, match=f"= {length}"):
                call(a, index, out)
        # Of the last three sizes each call, and each that stops, goes through Python.
        assert len(slow_calls) == BUILTIN_ENTRIES + 6 + 6 * round_


def test_no_reference_is_lost_or_kept() -> None:
    kernel = Engine().kernel(added(), "added")
    call, make = kernel.caller(), kernel.allocating_caller((4,), "float32")
    a, out = np.ones(4, "float32"), np.zeros(4, "float32")
    broken = np.ones(5, "float32")
    watched = (a, out, broken, None, False, a.dtype, kernel)

    def work() -> None:
        for _ in range(200):
            call(a, a, out)
            make(a, a)
            for refused in ((a, broken, out), (a, a)):
                with pytest.raises(RunError):
                    call(*refused)

    work()
    gc.collect()
    before = [sys.getrefcount(item) for item in watched]
    work()
    gc.collect()
    after = [sys.getrefcount(item) for item in watched]
    # What else runs in the interpreter holds None or False for a moment.
    assert all(abs(one - other) < 100 for one, other in zip(before, after, strict=True)), (before, after)
    result, plain = make(a, a), np.ones(4)
    assert sys.getrefcount(result) == sys.getrefcount(plain)


def test_a_kernel_goes_with_its_builtins() -> None:
    kernel = Engine().kernel(added(), "added")
    call, make = kernel.caller(), kernel.allocating_caller((4,), "float32")
    a = np.ones(4, "float32")
    call(a, a, np.zeros(4, "float32"))
    make(a, a)
    kept = weakref.ref(kernel)
    del kernel
    gc.collect()
    assert kept() is not None
    assert make(a, a) is not None
    del call, make
    gc.collect()
    assert kept() is None


@pytest.mark.parametrize(
    ("function", "inputs"),
    [
        (added(), ((7,), (7,))),
        (added(rank=2), ((0, 3), (0, 3))),
        (tir_matmul(is_corrected=True), ((3, 4), (4, 7))),
        (row_sum(), ((7, 5),)),
        (row_sum(), ((7, 0),)),
    ],
    ids=["elementwise", "empty", "product", "sums", "sums of nothing"],
)
def test_an_output_that_is_made_holds_what_one_that_is_given_would(
    function: PrimFunc, inputs: tuple[tuple[int, ...], ...], slow_calls: list[object]
) -> None:
    kernel = Engine().kernel(function, "made")
    random = np.random.default_rng(0)
    args = [random.random(shape, "float32") for shape in inputs]
    shape = (*inputs[0][:1], *inputs[-1][1:]) if len(inputs) == 2 else inputs[0][:1]
    expected = np.zeros(shape, "float32")
    kernel(*args, expected)
    make = kernel.allocating_caller(shape, "float32")
    results = [make(*args) for _ in range(4)]
    assert len(slow_calls) == 2
    assert len({id(result) for result in results}) == 4
    for result in results:
        assert is_array(result)
        assert (result.shape, result.dtype, result.tobytes()) == (shape, expected.dtype, expected.tobytes())
        assert result.flags.owndata
        assert result.flags.writeable


def test_a_large_output_starts_at_a_line_of_the_cache_and_keeps_its_memory() -> None:
    call = Engine().kernel(added(), "added").allocating_caller((20_000,), "float32")
    a = np.ones(20_000, "float32")
    call(a, a)
    results = [np.asarray(call(a, a)) for _ in range(8)]
    for number, result in enumerate(results):
        assert result.ctypes.data % 64 == 0
        assert result.flags.carray
        result += number
    assert all(result.base is not None and sys.getrefcount(result.base) == 2 for result in results)
    watched = (a.dtype, np.dtype("uint8"))
    before = [sys.getrefcount(item) for item in watched]
    for _ in range(500):
        call(a, a)
    after = [sys.getrefcount(item) for item in watched]
    assert all(abs(one - other) < 100 for one, other in zip(before, after, strict=True)), (before, after)
    del call
    gc.collect()
    assert [result.tolist() for result in results] == [[2.0 + number] * 20_000 for number in range(8)]


def test_what_does_not_fit_a_made_output_is_the_kernels_error() -> None:
    make = ENGINE.kernel(added(), "added").allocating_caller((4,), "float32")
    a = np.ones(4, "float32")
    make(a, a)
    for args, code in (((a,), "JT003"), ((a, np.ones(5, "float32")), "JT006"), ((a, a.astype("int8")), "JT004")):
        with pytest.raises(RunError, match=code):
            make(*args)


def test_without_the_known_layout_python_calls_the_kernel(
    monkeypatch: pytest.MonkeyPatch, slow_calls: list[object]
) -> None:
    monkeypatch.setattr(builtin, "symbols", lambda: None)
    kernel = Engine().kernel(added(), "added")
    a = np.ones(4, "float32")
    make = kernel.allocating_caller((4,), "float32")
    for _ in range(2):
        made = make(a, a)
        assert is_array(made)
        assert made.tolist() == [2, 2, 2, 2]
    assert len(slow_calls) == 2
