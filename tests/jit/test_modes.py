"""Numerical modes: what "bitwise" shares with apache-tvm, and what the others may change."""

from typing import Any

import numpy as np
import pytest

from relax_core.ir.prim import Intrinsic, binary
from relax_core.jit.engine import Engine
from relax_core.jit.options import DEFAULT_OPTIONS, KernelOptions, Mode
from tests.jit.functions.test_functions import every_exponent
from tests.jit.programs import elementwise

UNARY = (
    "exp", "tanh", "sigmoid", "erf", "log", "sin", "cos", "tan", "atan", "asin", "acos", "sinh", "cosh", "rsqrt",
    "sqrt", "asinh", "acosh", "atanh", "round",
)  # fmt: skip
DTYPES = ("float32", "float64")
MULTIPLY_ADD = elementwise(lambda x, y, z: binary("+", binary("*", x, y), z), 1, ("float32",) * 3, "float32")


def inputs(dtype: str) -> Any:
    return np.nan_to_num(every_exponent()[::16], nan=0.1, posinf=np.inf, neginf=-np.inf).astype(dtype)


def kernel_ir(mode: Mode, dtype: str, name: str) -> str:
    function = elementwise(lambda x: Intrinsic(name, (x,), dtype), 1, (dtype,), dtype)
    return Engine(options=KernelOptions(mode=mode)).kernel(function, name).llvm_ir()


@pytest.fixture(scope="module")
def wheel() -> Any:
    """Return a machine of apache-tvm with a function for every operator and dtype, built by its default pipeline."""
    from tests.apache_tvm import relax, tvm

    builder = relax.BlockBuilder()
    for dtype in DTYPES:
        for name in UNARY:
            x = relax.Var("x", relax.TensorType((len(inputs(dtype)),), dtype))
            with builder.function(f"{name}_{dtype}", [x]):
                builder.emit_func_output(builder.emit(getattr(relax.op, name)(x)))
    return relax.VirtualMachine(relax.build(builder.get(), "llvm"), tvm.cpu())


@pytest.mark.tvm
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", UNARY)
def test_bitwise_equals_tvm_bit_for_bit(wheel: Any, name: str, dtype: str) -> None:
    from tests.apache_tvm import tvm

    x = inputs(dtype)
    out = np.zeros_like(x)
    function = elementwise(lambda load: Intrinsic(name, (load,), dtype), 1, (dtype,), dtype)
    Engine(options=KernelOptions(mode="bitwise")).kernel(function, name)(x, out)
    expected = wheel[f"{name}_{dtype}"](tvm.runtime.tensor(x)).numpy()
    bits = f"uint{x.itemsize * 8}"
    is_number = ~np.isnan(expected)
    assert np.array_equal(is_number, ~np.isnan(out))
    assert np.array_equal(out[is_number].view(bits), expected[is_number].view(bits))


def test_exact_is_the_default() -> None:
    assert DEFAULT_OPTIONS.mode == Engine().options.mode == "exact"


@pytest.mark.parametrize(("mode", "is_called"), [("bitwise", True), ("exact", False), ("fast", False)])
def test_only_bitwise_calls_the_c_library(mode: Mode, is_called: bool) -> None:
    assert ("@llvm.exp.f32" in kernel_ir(mode, "float32", "exp")) == is_called


@pytest.mark.parametrize(("mode", "is_fused"), [("bitwise", False), ("exact", False), ("fast", True)])
def test_only_fast_may_fuse_a_product_and_a_sum(mode: Mode, is_fused: bool) -> None:
    text = Engine(options=KernelOptions(mode=mode)).kernel(MULTIPLY_ADD, "main").llvm_ir()
    assert ("fadd contract" in text) == is_fused
    assert not any(flag in text for flag in ("nnan", "ninf", "reassoc"))


def test_exact_rounds_a_product_before_the_sum() -> None:
    x = np.full(64, 1 + 2.0**-12, "float32")
    z = -x * x
    out = np.ones_like(x)
    Engine().kernel(MULTIPLY_ADD, "main")(x, x, z, out)
    assert not out.any()


def test_what_the_c_library_computes_is_a_remark() -> None:
    function = elementwise(lambda x: Intrinsic("sin", (x,), "float64"), 1, ("float64",), "float64")
    remarks = Engine().kernel(function, "main").remarks()
    assert [(item.kind, item.transform) for item in remarks] == [("refused", "elementary functions")]
    assert "float64" in remarks[0].reason
