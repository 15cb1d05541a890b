"""Scalars are computed in their dtype, when they are needed, and alike whether the text knows their operands or not."""

from typing import Any

import pytest

from relax_core.diagnostics import RunError
from relax_core.vm.virtual_machine import VirtualMachine
from tests.vm.programs import HEAD, executable_of

LARGEST = (1 << 63) - 1
# a scalar of `x: int64` and `n: int64`; x; n; its value
EXPRESSIONS = (
    ("x + n", LARGEST, 1, -LARGEST - 1),
    ('T.Cast("int8", x)', 200, 0, -56),
    ('T.Cast("int32", x)', (1 << 40) + 5, 0, 5),
    ('T.Cast("int64", T.Cast("int8", x)) + n', 200, 1, -55),
    ("T.truncdiv(x, n)", -7, 2, -3),
    ("x // n", -7, 2, -4),
    ('T.Cast("int8", T.int64(200))', 0, 0, -56),
    ('T.Cast("uint8", T.int64(-1))', 0, 0, 255),
    ("T.int64(4611686018427387904) * T.int64(4)", 0, 0, 0),
    ("T.int64(9223372036854775807) + T.int64(1)", 0, 0, -LARGEST - 1),
    ("T.int32(2147483647) + T.int32(1)", 0, 0, -(1 << 31)),
    ("T.float32(0.1) + T.float32(0.2)", 0, 0, 0.30000001192092896),
    ("T.exp(T.float64(1000.0))", 0, 0, float("inf")),
    ("T.log(T.float64(0.0))", 0, 0, float("-inf")),
    ("T.float64(1.0) / T.float64(0.0)", 0, 0, float("inf")),
    ("T.if_then_else(T.int64(1) < T.int64(2), T.int64(7), T.int64(1) // T.int64(0))", 0, 0, 7),
)
# the body of a function that divides where it may not; whether it fails for n = 0
GUARDED = (
    ("if n == 0:\n    r = R.prim_value(x)\nelse:\n    r = R.prim_value(x // n)\nreturn r", False),
    ("if n != 0:\n    r = R.zeros((x % n,), 'int8')\nelse:\n    r = R.zeros((x,), 'int8')\nreturn r", False),
    ("r = R.prim_value(x // n)\nreturn r", True),
    ("r = R.prim_value(T.int64(1) // T.int64(0))\nreturn r", True),
)


def machine(body: str) -> VirtualMachine:
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    head = '    @R.function\n    def main(x: R.Prim("int64"), n: R.Prim("int64")):\n'
    return VirtualMachine(executable_of(f"{HEAD}@I.ir_module\nclass Module:\n{head}{lines}"))


@pytest.mark.parametrize(("text", "x", "n", "expected"), EXPRESSIONS)
def test_a_scalar_has_the_value_of_its_dtype(text: str, x: int, n: int, expected: Any) -> None:
    found = machine(f"y = R.prim_value({text})\nreturn y")["main"](x, n)
    assert (type(found), found) == (type(expected), expected)


def test_scalars_that_differ_by_a_cast_only_are_two() -> None:
    body = "y = R.prim_value(x * 2)\nz = R.prim_value(T.Cast('int64', T.Cast('int16', x) * T.int16(2)))\nreturn (y, z)"
    assert machine(body)["main"](1 << 15, 0) == (1 << 16, 0)


@pytest.mark.parametrize(("body", "fails"), GUARDED)
def test_a_division_is_done_where_it_stands(body: str, fails: bool) -> None:
    main = machine(body)["main"]
    if not fails:
        main(7, 0)
        return
    with pytest.raises(RunError) as caught:
        main(7, 0)
    assert caught.value.diagnostics[0].code == "JT011"


def test_what_is_printed_before_a_failure_is_printed() -> None:
    lines: list[str] = []
    text = HEAD + "@I.ir_module\nclass Module:\n    @R.function(pure=False)\n"
    text += '    def main(x: R.Prim("int64")):\n        _ = R.print(x)\n        y = R.prim_value(x // (x - x))\n'
    executable = executable_of(text + "        z = R.prim_value(x // (x - 7))\n        return (y, z)\n")
    with pytest.raises(RunError):
        VirtualMachine(executable, on_output=lines.append)["main"](7)
    assert lines == ["7"]
