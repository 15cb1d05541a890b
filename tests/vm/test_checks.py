"""Checks of arguments and symbolic dimensions say where, what was expected and what was found."""

from typing import Any

import numpy as np
import pytest

import relax_core as rc
from relax_core.bytecode.executable import DTypeConstant, ShapeConstant
from relax_core.diagnostics import Diagnostic, RunError
from relax_core.vm.machine import Machine
from relax_core.vm.objects.values import ShapeValue
from tests.vm.assemble import assemble, result_of

X = 'ErrorContext(fn=main, loc=param[0], param=x, annotation=R.Tensor((n, m), dtype="float32"))'
Y = 'ErrorContext(fn=main, loc=param[1], param=y, annotation=R.Tensor((m, 4), dtype="float32"))'
CONSTANTS = (X, Y, DTypeConstant("float32"))
MATCH = """
@main(x, y) 3
  call vm.builtin.alloc_shape_heap(vm, i2) -> %2
  call vm.builtin.match_shape(%0, %2, i2, i1, i0, i1, i1, c[0])
  call vm.builtin.match_shape(%1, %2, i2, i3, i1, i0, i4, c[1])
  ret %2
"""


def fails(listing: str, *args: Any) -> Diagnostic:
    error = Machine(assemble(listing, CONSTANTS)).run("main", args).error
    assert error is not None
    assert error.span is not None
    return error


def test_dimensions_that_agree_pass() -> None:
    trace = Machine(assemble(MATCH, CONSTANTS)).run("main", (np.zeros((2, 3)), np.zeros((3, 4))))
    assert trace.error is None
    assert result_of(trace).tolist() == [2, 3]


def test_a_symbol_with_two_values_names_both_places() -> None:
    error = fails(MATCH, np.zeros((2, 3)), np.zeros((5, 4)))
    assert error.code == "VM012"
    for words in ("dimension 0 of `y`", "3", "dimension 1 of `x`", "got 5", 'R.Tensor((m, 4), dtype="float32")'):
        assert words in error.message


def test_a_static_dimension_is_compared() -> None:
    error = fails(MATCH, np.zeros((2, 3)), np.zeros((3, 5)))
    assert (error.code, error.span.line if error.span else 0) == ("VM012", 5)
    assert "dimension 1 of `y`" in error.message
    assert "must be 4, got 5; the whole shape is (3, 5)" in error.message


@pytest.mark.parametrize(
    ("check", "value", "words"),
    [
        ("check_tensor_info(%0, i2, c[2], c[0])", np.zeros(2, np.float32), "a tensor with 2 dimensions"),
        ("check_tensor_info(%0, i-1, c[2], c[0])", np.zeros(2), "tensor (2,) float64"),
        ("check_tensor_info(%0, i2, void, c[0])", 3, "got scalar 3 int64"),
        ("check_shape_info(%0, i2, c[0])", ShapeValue((1,)), "a shape with 2 dimensions"),
        ("check_shape_info(%0, i2, c[0])", (1, 2), "got tuple of 2"),
        ("check_prim_value_info(%0, c[2], c[0])", 1, "a scalar float32"),
        ("check_tuple_info(%0, i2, c[0])", (1,), "a tuple of 2 fields"),
        ("check_func_info(%0, c[0])", None, "a function"),
    ],
)
def test_a_wrong_argument_is_described(check: str, value: Any, words: str) -> None:
    error = fails(f"@main(x) 1\n  call vm.builtin.{check}\n  ret %0\n", value)
    assert error.code == "VM011"
    assert "`x` of `main` must be" in error.message
    assert words in error.message


def test_float64_has_a_hint() -> None:
    error = fails("@main(x) 1\n  call vm.builtin.check_tensor_info(%0, i1, c[2], c[0])\n  ret %0\n", np.zeros(2))
    assert "astype" in error.hint


@pytest.mark.parametrize(
    ("check", "value", "hint"),
    [
        ("check_tensor_info(%0, i1, void, c[0])", (1, 2), "numpy.array"),
        ("check_tensor_info(%0, i0, void, c[0])", 3, "numpy.array"),
        ("check_prim_value_info(%0, c[2], c[0])", np.zeros(()), "value.item()"),
    ],
    ids=["a list", "a number", "an array of rank 0"],
)
def test_a_value_of_python_in_the_wrong_place_has_a_hint(check: str, value: Any, hint: str) -> None:
    assert hint in fails(f"@main(x) 1\n  call vm.builtin.{check}\n  ret %0\n", value).hint


def test_a_field_of_a_tuple_is_said_to_be_one() -> None:
    text = '@R.function\ndef main(t: R.Tuple(R.Prim("int64"), R.Prim("int64"))):\n    return t\n'
    run = rc.VirtualMachine(rc.build(rc.parse(text)))
    with pytest.raises(RunError, match="a field of `t` of `main` must be a scalar int64") as caught:
        run["main"]((3, np.array(4)))
    assert "value.item()" in caught.value.diagnostics[0].hint


@pytest.mark.parametrize(
    ("call", "code"),
    [
        ("vm.builtin.tuple_getitem(%0, i5)", "VM020"),
        ("vm.builtin.reshape(%0, c[0])", "VM020"),
        ("relax.run.assert_op(i0, c[0])", "VM013"),
        ("relax.run.print(c[0])", "VM020"),
        ("vm.builtin.make_shape(void, i1, i1, i0)", "VM021"),
    ],
)
def test_an_operation_that_cannot_be_done_is_a_diagnostic(call: str, code: str) -> None:
    constants: Any = ("{} {}" if "print" in call else ShapeConstant((7,)) if "reshape" in call else "no",)
    value: Any = (1, 2) if "tuple" in call else np.zeros(3)
    error = Machine(assemble(f"@main(x) 2\n  call {call} -> %1\n  ret %1\n", constants)).run("main", (value,)).error
    assert error is not None
    assert error.code == code
