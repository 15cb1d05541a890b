"""What is computed with NumPy has the bits of what kernels compute: in a pass, in a simulated launch, at a stop."""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pytest

import relax_core as rc
from relax_core.ir.integer.evaluate import NoValueError
from relax_core.ir.module import IRModule
from relax_core.ir.tir import PrimFunc
from relax_core.jit.engine import Engine, Kernel
from relax_core.passes.tir.running.statements import run_prim_func

Array: TypeAlias = npt.NDArray[Any]
INTEGERS = (
    "A[i] + B[i]", "A[i] - B[i]", "A[i] * B[i]", "-A[i]", "T.Div(A[i], B[i])", "A[i] // B[i]", "A[i] % B[i]",
    "T.truncdiv(A[i], B[i])", "T.truncmod(A[i], B[i])", "T.min(A[i], B[i])", "T.max(A[i], B[i])", "A[i] & B[i]",
    "A[i] | B[i]", "A[i] ^ B[i]", "~A[i]", "A[i] << T.DTYPE(1)", "A[i] >> T.DTYPE(3)", "T.popcount(A[i])",
    "(A[i] * B[i]) // T.DTYPE(3)", "(A[i] + B[i]) > A[i]",
)  # fmt: skip
FLOATS = ("T.truncmod(A[i], B[i])", "A[i] / B[i]", "T.min(A[i], B[i])", "T.max(A[i], B[i])")
CASTS = ("int8", "uint8", "int32", "uint32", "int64", "uint64", "float32", "bool")
REALS = (0.0, -0.5, 1.5, -1.5, 200.7, -3e9, 3e9, 1e19, -1e19, float("inf"), float("-inf"), float("nan"))


def values_of(dtype: str) -> tuple[Array, Array]:
    """Return pairs of operands, the limits of the dtype among them; no divisor is zero."""
    if dtype.startswith("float"):
        pairs = [(a, b) for a in REALS[:5] for b in (0.3, -0.7, 0.0, float("inf"))]
    else:
        limits = np.iinfo(dtype)
        some = (limits.min, limits.min + 1, 0, 1, 7, limits.max // 3, limits.max)
        pairs = [(a, b) for a in some for b in (*some, limits.max if limits.min == 0 else -1) if b]
    first, second = (np.array(column, dtype) for column in zip(*pairs, strict=True))
    return first, second


def module_of(expr: str, dtype: str, result: str, count: int, *, is_launch: bool = False) -> IRModule:
    """Return a prim func `main` that computes an expression of A[i] and B[i]."""
    loop = f'T.thread_binding({count}, thread="threadIdx.x")' if is_launch else f"range({count})"
    text = expr.replace("DTYPE", dtype)
    params = ", ".join(
        f"{name}: T.Buffer(({count},), {kind!r})" for name, kind in {"A": dtype, "B": dtype, "C": result}.items()
    )
    return rc.parse(
        f"# from tvm.script import tirx as T\n\n@T.prim_func\ndef main({params}):\n"
        f"    for i in {loop}:\n        C[i] = {text}\n",
        "m.py",
    )


def prim_func_of(module: IRModule) -> PrimFunc:
    function = module["main"]
    assert isinstance(function, PrimFunc)
    return function


def kernel_of(module: IRModule) -> Kernel:
    return Engine().kernel(prim_func_of(module), "main", None, {})


def evaluated(module: IRModule, *args: Array) -> Array:
    """Run `main` as a pass does."""
    return run_prim_func(prim_func_of(module), args, ())[-1]


def assert_all_agree(expr: str, a: Array, b: Array, result: str) -> None:
    """Compare a kernel with a pass, with a simulated launch and with what a stop at each statement shows."""
    dtype, out = str(a.dtype), np.zeros(len(a), result)
    module = module_of(expr, dtype, result, len(a))
    expected = out.copy()
    kernel_of(module)(a, b, expected)
    np.testing.assert_array_equal(evaluated(module, a, b, out), expected)
    launched = rc.simulate(module_of(expr, dtype, result, len(a), is_launch=True), "main", a, b, out)
    np.testing.assert_array_equal(launched.outputs[0].value, expected)
    it = rc.inside(module, "main", a, b, out)
    for at, value in enumerate(expected):
        shown = it.go(f"to {at}").accesses[-1]
        assert shown.cell == f"C[{at}]"
        found = shown.after == "True" if result == "bool" else np.array(shown.after).astype(result)
        assert found == pytest.approx(value, rel=1e-5, nan_ok=True)


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint64"])
@pytest.mark.parametrize("expr", INTEGERS)
def test_operations_of_integers_have_the_bits_of_kernels(expr: str, dtype: str) -> None:
    assert_all_agree(expr, *values_of(dtype), "bool" if ">" in expr.replace(">>", "") else dtype)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("expr", FLOATS)
def test_operations_of_floats_have_the_bits_of_kernels(expr: str, dtype: str) -> None:
    assert_all_agree(expr, *values_of(dtype), dtype)


@pytest.mark.parametrize("source", ["int64", "uint64", "float32", "float64"])
@pytest.mark.parametrize("target", CASTS)
def test_conversions_have_the_bits_of_kernels(source: str, target: str) -> None:
    a = np.array(REALS, source) if source.startswith("float") else values_of(source)[0]
    assert_all_agree(f'T.Cast("{target}", A[i])', a, a, target)


@pytest.mark.parametrize("expr", ["A[i] // (B[i] - B[i])", "A[i] % (B[i] - B[i])", "A[i] << (B[i] - B[i] + 32)"])
def test_what_stops_a_kernel_is_not_evaluated(expr: str) -> None:
    module, ones = module_of(expr, "int32", "int32", 4), np.ones(4, np.int32)
    with pytest.raises(rc.RunError):
        kernel_of(module)(ones, ones, ones.copy())
    with pytest.raises(NoValueError, match=r"divides by zero|shifts by more bits than there are"):
        evaluated(module, ones, ones, ones)


def test_what_would_stop_the_instances_that_do_not_do_it_stops_none() -> None:
    module = module_of("T.if_then_else(B[i] != 0, A[i] // B[i], 7)", "int32", "int32", 4)
    a, b = np.arange(4, dtype=np.int32), np.array([0, 1, 0, 2], np.int32)
    assert evaluated(module, a, b, a).tolist() == [7, 1, 7, 1]
