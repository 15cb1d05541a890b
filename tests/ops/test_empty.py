"""Tensors without elements: evaluated and run alike, for sizes that are written and for symbols that are 0."""

from typing import Any

import numpy as np
import pytest

import relax_core as rc
from tests.narrow import as_tuple

MODULE = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor({shape}, "{dtype}")):
        {symbols}
        gv = {call}
        return gv
"""
CALLS = (
    "R.sum(x, axis=[1])", "R.prod(x, axis=[1])", "R.max(x, axis=[1])", "R.min(x)", "R.argmax(x, axis=1)",
    "R.argmin(x)", "R.prod(x)", "R.cumsum(x, axis=1, exclusive=True)", "R.cumprod(x, axis=1, exclusive=True)",
    "R.cumsum(x)", "R.sort(x)", "R.argsort(x)", "R.median(x, axis=[1])", "R.median(x)",
    "R.matmul(x, R.permute_dims(x))", "R.matmul(R.permute_dims(x), x)", "R.flatten(x)", "R.add(x, x)",
    "R.floor_divide(x, x)", "R.concat((x, x), axis=1)",
)  # fmt: skip
OF_FLOATS = ("R.mean(x, axis=[1])", "R.std(x, axis=[1])", "R.variance(x, axis=[1])", "R.nn.softmax(x)",
             "R.nn.log_softmax(x)", "R.nn.softmax(x, axis=0)")  # fmt: skip
SHAPES = {"static": ("(3, 0)", ""), "symbolic": ('("n", "m")', "n, m = T.int64(), T.int64()")}


def both(call: str, kind: str, dtype: str) -> tuple[Any, Any]:
    shape, symbols = SHAPES[kind]
    module = rc.parse(MODULE.format(shape=shape, symbols=symbols, call=call, dtype=dtype))
    x = np.zeros((3, 0), dtype)
    return rc.evaluate(module, "main", x), rc.VirtualMachine(rc.build(module))["main"](x)


def assert_alike(evaluated: Any, run: Any) -> None:
    for one, other in zip(as_tuple(evaluated), as_tuple(run), strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.parametrize("call", CALLS)
def test_of_nothing_there_is_one_result(call: str, kind: str) -> None:
    for dtype in ("float32", "int32"):
        assert_alike(*both(call, kind, dtype))


@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.parametrize("call", OF_FLOATS)
def test_of_no_floats_there_is_one_result(call: str, kind: str) -> None:
    assert_alike(*both(call, kind, "float32"))


@pytest.mark.parametrize(
    ("call", "expected"),
    [("R.prod(x)", 1), ("R.sum(x)", 0), ("R.argmax(x)", -1), ("R.max(x)", np.finfo(np.float32).min)],
)
def test_the_result_of_nothing_is_the_start(call: str, expected: float) -> None:
    for kind in SHAPES:
        evaluated, run = both(call, kind, "float32")
        assert evaluated == run == expected


RESHAPES = (
    ('("n", 0)', "n = T.int64()", "R.reshape(x, (n * 0,))", (0,)),
    ('("n", "m")', "n, m = T.int64(), T.int64()", "R.reshape(x, (n * m,))", (0,)),
    ('("n", "m")', "n, m = T.int64(), T.int64()", "R.reshape(x, (m, n))", (0, 3)),
    ("(3, 0)", "", "R.reshape(x, (0, 7, 0))", (3, 7, 0)),
    ("(3, 0)", "", "R.reshape(x, (5, 0))", (5, 0)),
    ('("n", "m")', "n, m = T.int64(), T.int64()", "R.reshape(x, (0,))", (0,)),
    ('("n", "m")', "n, m = T.int64(), T.int64()", "R.reshape(x, (0, 2))", (0, 2)),
    ('("n", "m")', "n, m = T.int64(), T.int64()", "R.reshape(x, (7, 0))", (7, 0)),
    ('("n", "m")', "n, m = T.int64(), T.int64()", "R.reshape(x, (0, -1))", (3, 0)),
    ('("n", "m")', "n, m = T.int64(), T.int64()", "R.reshape(x, (-1, 0))", (3, 0)),
    ('("n", "m")', "n, m = T.int64(), T.int64()", "R.reshape(x, (-1, m))", (3, 0)),
    ('("n", "m")', "n, m = T.int64(), T.int64()", "R.reshape(x, (-1, 4))", (0, 4)),
)


@pytest.mark.parametrize(("shape", "symbols", "call", "expected"), RESHAPES, ids=[call for _, _, call, _ in RESHAPES])
def test_a_reshape_of_nothing_is_nothing(shape: str, symbols: str, call: str, expected: tuple[int, ...]) -> None:
    module = rc.parse(MODULE.format(shape=shape, symbols=symbols, call=call, dtype="float32"))
    x = np.zeros((3, 0), "float32")
    assert rc.evaluate(module, "main", x).shape == expected
    assert rc.VirtualMachine(rc.build(module))["main"](x).shape == expected
