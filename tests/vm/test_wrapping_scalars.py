"""Scalars wrap around in their dtype; counts that would are refused, and neither is taken for the other."""

from typing import Any

import pytest

import relax_core as rc
from relax_core.diagnostics import RunError

TEXT = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Prim(value="n")):
        n = T.int64()
        {body}
        return r
"""
LARGE = (1 << 62) + 5


def ways(body: str, value: int) -> list[Any]:
    """Run a program by definition, and compiled."""
    module = rc.parse(TEXT.format(body=body), "scalars.py")
    return [rc.evaluate(module, "main", value), rc.VirtualMachine(rc.build(module))["main"](value)]


@pytest.mark.parametrize(
    ("expr", "value", "expected"),
    [
        pytest.param("n * 2 // 2", LARGE, -(1 << 62) + 5, id="a product that is divided again"),
        pytest.param("n * 2 % 2 + n", LARGE, LARGE, id="a remainder of a product"),
        pytest.param('T.Cast("int64", T.Cast("int8", n))', 300, 44, id="a narrow number that is widened"),
        pytest.param("T.max(n + 1, n)", (1 << 63) - 1, (1 << 63) - 1, id="the larger of neighbours"),
    ],
)
def test_a_scalar_is_what_a_machine_computes(expr: str, value: int, expected: int) -> None:
    assert ways(f"r = R.prim_value({expr})", value) == [expected, expected]


@pytest.mark.parametrize("expr", ["n * 2 // 2", 'T.Cast("int64", T.Cast("int8", n))'])
def test_a_scalar_that_wrapped_around_is_not_the_one_it_was_made_of(expr: str) -> None:
    body = f"s = R.prim_value({expr})\n        r = R.match_cast(s, R.Prim(value=n))"
    assert ways(body, 100) == [100, 100]
    with pytest.raises(RunError, match="VM012"):
        ways(body, LARGE)
