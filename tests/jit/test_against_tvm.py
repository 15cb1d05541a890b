"""Where the order of operations is kept, results are equal to those of apache-tvm bit for bit."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from relax_core.ir.prim import Intrinsic, binary
from relax_core.ir.tir import PrimFunc
from relax_core.jit.engine import Engine
from relax_core.jit.options import KernelOptions
from tests.jit.programs import elementwise, row_sum, tir_matmul

pytestmark = pytest.mark.tvm

BITWISE = Engine(options=KernelOptions(mode="bitwise"))
RANDOM = np.random.default_rng(0)


def random(*shape: int) -> Any:
    return RANDOM.standard_normal(shape, "float32")


def matmul_in_tvm(te: Any, m: int, n: int, k: int) -> list[Any]:
    def summed(i: Any, j: Any) -> Any:
        return te.sum(a[i, r] * b[r, j], axis=r)

    a, b = te.placeholder((m, n), "float32", "A"), te.placeholder((n, k), "float32", "B")
    r = te.reduce_axis((0, n), "r")
    return [a, b, te.compute((m, k), summed)]


def row_sum_in_tvm(te: Any, n: int, m: int) -> list[Any]:
    def summed(i: Any) -> Any:
        return te.sum(a[i, r], axis=r)

    a = te.placeholder((n, m), "float32", "A")
    r = te.reduce_axis((0, m), "r")
    return [a, te.compute((n,), summed)]


def binary_in_tvm(te: Any, n: int, compute: Callable[[Any, Any, Any], Any]) -> list[Any]:
    def computed(i: Any) -> Any:
        return compute(te, a[i], b[i])

    a, b = te.placeholder((n,), "float32", "A"), te.placeholder((n,), "float32", "B")
    return [a, b, te.compute((n,), computed)]


def run_in_tvm(make: Callable[[Any], list[Any]], inputs: list[Any], shape: tuple[int, ...]) -> Any:
    from tests.apache_tvm import tvm

    compiled = tvm.compile(tvm.te.create_prim_func(make(tvm.te)), target="llvm")
    arrays = [tvm.runtime.tensor(array) for array in (*inputs, np.zeros(shape, "float32"))]
    compiled(*arrays)
    return arrays[-1].numpy()


ADD = elementwise(lambda x, y: binary("+", x, y), 1, ("float32",) * 2, "float32")
MAX = elementwise(lambda x, y: binary("max", x, y), 1, ("float32",) * 2, "float32")
EXP = elementwise(lambda x, y: Intrinsic("exp", (binary("-", x, y),), "float32"), 1, ("float32",) * 2, "float32")


@pytest.mark.parametrize("size", [(1, 1, 1), (5, 7, 3), (33, 64, 65)], ids=str)
def test_matmul(size: tuple[int, int, int]) -> None:
    m, n, k = size
    x, y, got = random(m, n), random(n, k), np.zeros((m, k), "float32")
    BITWISE.kernel(tir_matmul(is_corrected=True), "matmul")(x, y, got)
    assert np.array_equal(got, run_in_tvm(lambda te: matmul_in_tvm(te, m, n, k), [x, y], (m, k)))


@pytest.mark.parametrize("size", [(1, 1), (3, 1000), (17, 129)], ids=str)
def test_sum(size: tuple[int, int]) -> None:
    x, got = random(*size), np.zeros(size[0], "float32")
    BITWISE.kernel(row_sum(), "sum")(x, got)
    assert np.array_equal(got, run_in_tvm(lambda te: row_sum_in_tvm(te, *size), [x], size[:1]))


COMPUTED: dict[str, tuple[PrimFunc, Callable[[Any, Any, Any], Any]]] = {
    "add": (ADD, lambda te, x, y: x + y),
    "max": (MAX, lambda te, x, y: te.max(x, y)),
    "exp": (EXP, lambda te, x, y: te.exp(x - y)),
}


@pytest.mark.parametrize("name", COMPUTED)
def test_elementwise(name: str) -> None:
    function, compute = COMPUTED[name]
    x, y = random(1003), random(1003)
    x[:4] = np.nan, np.inf, -np.inf, -0.0
    y[2:5] = np.nan, 0.0, np.nan
    got = np.zeros(1003, "float32")
    BITWISE.kernel(function, "elementwise")(x, y, got)
    expected = run_in_tvm(lambda te: binary_in_tvm(te, 1003, compute), [x, y], (1003,))
    assert np.array_equal(got, expected, equal_nan=True)
