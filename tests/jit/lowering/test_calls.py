"""Calls in prim funcs: of C's mathematical library by name, and of other prim funcs of the module."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import relax_core as rc
from relax_core.frontend.parse import parse_text
from relax_core.vm.external.packed import Registry
from relax_core.vm.machine import Machine
from relax_core.vm.recording.trace import Trace
from tests.jit.low_level import failure, run, run_in_tvm

HEAD = """@T.prim_func
def main(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32"), C: T.Buffer((8,), "int32")):
"""
VALUES = (np.linspace(0.1, 0.9, 8, dtype="float32"), np.zeros(8, "float32"), np.arange(8, dtype="int32"))
STATEMENTS = {
    "sinf": 'B[0] = T.call_extern("float32", "sinf", A[0])',
    "powf": 'B[0] = T.call_pure_extern("float32", "powf", A[0], A[1])',
    "llvm.fma.f32": 'B[0] = T.call_llvm_pure_intrin("float32", "llvm.fma.f32", A[0], A[1], A[2])',
    "q_multiply_shift": """C[0] = T.q_multiply_shift(C[1] + 12345, 1395864371, 31, 0)
    C[1] = T.q_multiply_shift(T.int32(-77777), 1395864371, 31, 3)
    C[2] = T.q_multiply_shift(T.int32(-77777), 1395864371, 31, -3)
    C[3] = T.q_multiply_shift(T.int32(77777), 1395864371, 31, C[5] - 2)""",
}


@pytest.mark.tvm
@pytest.mark.parametrize("name", STATEMENTS)
def test_a_function_by_its_name(name: str) -> None:
    text = f"{HEAD}    {STATEMENTS[name]}\n"
    for found, expected in zip(run(text, *VALUES), run_in_tvm(text, *VALUES), strict=True):
        np.testing.assert_allclose(found, expected, rtol=2e-7)


MODULE = """@I.ir_module
class Module:
    @T.prim_func(private=True)
    def square(n: T.int32) -> T.int32:
        if n < 0:
            return T.int32(0)
        return n * n

    @T.prim_func(private=True)
    def scale(a: T.handle("float32"), by: T.float32):
        A = T.decl_buffer((4,), "float32", data=a)
        for i in range(4):
            A[i] = A[i] * by

    @T.prim_func(private=True)
    def add(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            B[i] = A[i] + T.Cast("float32", Module.square(i - 1))

    @T.prim_func(private=True)
    def spoil(C: T.Buffer((8,), "int32")) -> T.int32:
        C[7] = 0
        return 0

    @T.prim_func(private=True)
    def forever(n: T.int32) -> T.int32:
        return Module.forever(n)

    @T.prim_func
    def main(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32"), C: T.Buffer((8,), "int32")):
        {}
"""
CALLS = {
    "a result": ("for i in range(8):\n            C[i] = Module.square(i - 2)", 2, [0, 0, 0, 1, 4, 9, 16, 25]),
    "a handle": ("Module.scale(A.data, T.float32(2))", 0, [*(VALUES[0][:4] * 2), *VALUES[0][4:]]),
    "a part of a buffer": (
        "for i in range(2):\n            Module.scale(T.address_of(A[i * 4]), T.float32(i + 2))",
        0,
        [*(VALUES[0][:4] * 2), *(VALUES[0][4:] * 3)],
    ),
    "a call inside a call": (
        "Module.add(A.data, B.data)",
        1,
        [*(VALUES[0][:4] + np.array([0, 0, 1, 4], "float32")), 0, 0, 0, 0],
    ),
    "only where it is chosen": (
        "C[0] = T.if_then_else(C[1] == 1, Module.square(7), Module.spoil(C.data))",
        2,
        [49, *range(1, 8)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_a_call_of_another_prim_func(name: str) -> None:
    statement, position, expected = CALLS[name]
    found = run(MODULE.format(statement), *VALUES)[position]
    assert np.array_equal(found, np.asarray(expected, found.dtype))


REFUSED = {
    "recursion": ("C[0] = Module.forever(1)", "JT001", "The prim func `forever`, which calls itself,"),
    "too small a buffer": ("Module.scale(T.address_of(A[6]), T.float32(2))", "JT019", "Out of range. The view `A`"),
    "too few arguments": ("Module.scale(A.data)", "JT001", "A call of `scale` with 1 arguments"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_call_that_is_refused(name: str) -> None:
    statement, code, message = REFUSED[name]
    found = failure(MODULE.format(statement), *VALUES)
    assert found[0] == code
    assert found[1].startswith(message)


PACKED = """@I.ir_module
class Module:
    @T.prim_func(private=True)
    def k(A: T.Buffer((2, 3), "float32"), B: T.Buffer((2, 3), "float32")):
        C = T.alloc_buffer((3,), "float32")
        for i in range(2):
            for j in range(3):
                C[j] = A[i, j]
            if T.call_packed("test.twice", C, i, T.float64(0.5), "text") > 0:
                for j in range(3):
                    B[i, j] = C[j]

    @R.function
    def main(x: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        cls = Module
        y = R.call_tir(cls.k, (x,), out_ty=R.Tensor((2, 3), "float32"))
        return y
"""


def on_machine(function: Callable[..., Any], x: Any) -> Trace:
    registry = Registry()
    registry.register("test.twice", function)
    executable = rc.build(parse_text(PACKED, "packed.py").modules[0])
    return Machine(executable, registry=registry).run("main", (x,))


def test_a_packed_function_gets_copies_and_may_change_them() -> None:
    kept: list[Any] = []

    def twice(array: Any, number: int, fraction: float, text: str) -> int:
        kept.append((array, number, fraction, text))
        array *= 2
        return 1

    x = np.arange(6, dtype="float32").reshape(2, 3)
    trace = on_machine(twice, x)
    assert trace.error is None, trace.error
    assert np.array_equal(np.asarray(trace.result), x * 2)
    assert [item[1:] for item in kept] == [(0, 0.5, "text"), (1, 0.5, "text")]
    assert np.array_equal(kept[0][0], x[0] * 2)


def test_the_error_of_a_packed_function_ends_the_run() -> None:
    def fails(*_: Any) -> int:
        raise ValueError("no")

    error = on_machine(fails, np.ones((2, 3), "float32")).error
    assert error is not None
    assert error.message == "packed function `test.twice` failed: ValueError: no"


def test_a_packed_function_needs_the_machine() -> None:
    assert failure(f'{HEAD}    T.call_packed("f", B, 1)\n', *VALUES)[0] == "JT001"


def test_work_in_called_functions_is_paid_for() -> None:
    text = MODULE.format("for i in range(1000000):\n            Module.scale(A.data, T.float32(1))")
    assert failure(text, *VALUES, fuel=100_000)[0] == "JT015"


ARRAY = "T.tvm_stack_make_array({data}, T.tvm_stack_make_shape({shape}), {strides}, {rank}, {zero}, {offset})"
WHOLE = {"data": "C.data", "shape": "8", "strides": "0", "rank": "1", "zero": "0", "offset": "0"}
SORTED = 'T.call_packed("tvm.contrib.sort.sort", {}, {}, 0, T.bool(False))'


def test_an_array_made_of_a_whole_buffer_is_the_buffer() -> None:
    made = ARRAY.format(**WHOLE)
    text = f"""@I.ir_module
class Module:
    @T.prim_func(private=True)
    def k(A: T.Buffer((8,), "int32"), C: T.Buffer((8,), "int32")):
        {SORTED.format(made.replace("C.data", "A.data"), made)}

    @R.function
    def main(x: R.Tensor((8,), "int32")) -> R.Tensor((8,), "int32"):
        y = R.call_tir(Module.k, (x,), out_ty=R.Tensor((8,), "int32"))
        return y
"""
    given = np.array([3, 1, 4, 1, 5, 9, 2, 6], "int32")
    given.flags.writeable = False
    result = rc.VirtualMachine(rc.build(rc.parse(text)))["main"](given)
    assert result.tolist() == [9, 6, 5, 4, 3, 2, 1, 1]


PARTS = {
    "the first elements": ({"shape": "4"}, [3, 2, 1, 0, 4, 5, 6, 7]),
    "another shape": ({"shape": "4, 2", "rank": "2", "axis": "1"}, [1, 0, 3, 2, 5, 4, 7, 6]),
    "an offset": ({"shape": "4", "offset": "T.int64(2)"}, [0, 1, 5, 4, 3, 2, 6, 7]),
    "an address": ({"data": "T.address_of(C[3])", "shape": "5"}, [0, 1, 2, 7, 6, 5, 4, 3]),
}


@pytest.mark.parametrize("name", PARTS)
def test_an_array_made_of_a_part_of_a_buffer_is_that_part(name: str) -> None:
    change, expected = PARTS[name]
    made = ARRAY.format(**WHOLE | change)
    text = f"""@I.ir_module
class Module:
    @T.prim_func(private=True)
    def k(A: T.Buffer((8,), "int32"), C: T.Buffer((8,), "int32")):
        for i in range(8):
            C[i] = A[i]
        {SORTED.format(made, made).replace(" 0, T.bool", f" {change.get('axis', '0')}, T.bool")}

    @R.function
    def main(x: R.Tensor((8,), "int32")) -> R.Tensor((8,), "int32"):
        y = R.call_tir(Module.k, (x,), out_ty=R.Tensor((8,), "int32"))
        return y
"""
    given = np.arange(8, dtype="int32")
    given.flags.writeable = False
    result = rc.VirtualMachine(rc.build(rc.parse(text)))["main"](given)
    assert result.tolist() == expected


def test_an_array_that_reaches_out_of_its_memory_is_refused() -> None:
    made = ARRAY.format(**WHOLE | {"offset": "1"})
    code, message = failure(f"{HEAD}    {SORTED.format(made, made)}\n", *VALUES)[:2]
    assert (code, "array" in message) == ("JT019", True)


def test_an_array_with_strides_is_refused() -> None:
    made = ARRAY.format(**WHOLE | {"strides": "C.data"})
    assert failure(f"{HEAD}    {SORTED.format(made, made)}\n", *VALUES)[0] == "JT001"
