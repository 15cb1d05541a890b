"""An output is left as it comes from memory only if the kernel writes all of it first."""

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from relax_core.diagnostics import RunError
from relax_core.frontend.parse import parse_text
from relax_core.ir.expr import Var
from relax_core.ir.integer.evaluate import evaluate
from relax_core.ir.tir import PrimFunc
from relax_core.jit.engine import Engine
from relax_core.jit.lowering.known.coverage import writes_all
from relax_core.jit.lowering.known.symbols import shape_symbols
from tests.jit.test_safety import Program, programs
from tests.ops.cases import LEGALIZED, SIZES, Builder, Case
from tests.ops.test_operators import TOLERANCE, value_of

ENGINE = Engine()

HEAD = """@T.prim_func
def f(A: T.Buffer((6, 8), "float32"), B: T.Buffer((6, 8), "float32")):
"""
ROWS = "    for i, j in T.grid(6, 8):\n        "
WHOLE = {
    "each element": ROWS + "B[i, j] = A[i, j]",
    "each element, the other way round": "    for j, i in T.grid(8, 6):\n        B[i, j] = A[i, j]",
    "each element in tiles": "    for i, k, j in T.grid(6, 2, 4):\n        B[i, k * 4 + j] = A[i, k * 4 + j]",
    "each element twice": "    for r, i, j in T.grid(3, 6, 8):\n        B[i, j] = A[i, j]",
    "in a block": """    for i, j in T.grid(6, 8):
        with T.block("b"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj]""",
    "a sum": """    for i, j, k in T.grid(6, 8, 6):
        with T.block("b"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                B[vi, vj] = T.float32(0)
            B[vi, vj] = B[vi, vj] + A[vk, vj]""",
    "row by row": """    for i in range(6):
        for j in range(8):
            B[i, j] = A[i, j]
        for j in range(8):
            A[i, j] = T.float32(0)""",
    "behind another output": "    A[0, 0] = T.float32(1)\n" + ROWS + "B[i, j] = A[i, j]",
    "read later": ROWS + "B[i, j] = A[i, j]\n    A[0, 0] = B[3, 3]",
}
PART = {
    "nothing": "    A[0, 0] = T.float32(0)",
    "one column less": "    for i, j in T.grid(6, 7):\n        B[i, j] = A[i, j]",
    "the diagonal": "    for i in range(6):\n        B[i, i] = A[i, i]",
    "sums of two variables": "    for i, k, j in T.grid(6, 2, 4):\n        B[i, k + j] = A[i, j]",
    "under a condition": ROWS + "if A[i, j] > T.float32(0):\n            B[i, j] = A[i, j]",
    "under a predicate": """    for i, j in T.grid(6, 8):
        with T.block("b"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.where(i < 5)
            B[vi, vj] = A[vi, vj]""",
    "added to": ROWS + "B[i, j] = B[i, j] + A[i, j]",
    "from its neighbour": ROWS + "B[i, j] = B[5 - i, j]",
    "left early": "    for i, j in T.grid(6, 8):\n        if j > 4:\n            break\n        B[i, j] = A[i, j]",
}
# Not told, though what was there is not seen or only by other buffers.
UNTOLD = {
    "a sum of nothing": """    for i, j, k in T.grid(6, 8, 0):
        with T.block("b"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                B[vi, vj] = T.float32(0)
            B[vi, vj] = B[vi, vj] + A[vk, vj]""",
    "overlapping tiles": "    for i, k, j in T.grid(6, 3, 4):\n        B[i, k * 2 + j] = A[i, j]",
    "a sum from the end": """    for i, j, k in T.grid(6, 8, 6):
        with T.block("b"):
            vi, vj = T.axis.remap("SS", [i, j])
            vk = T.axis.reduce(6, 5 - k)
            with T.init():
                B[vi, vj] = T.float32(0)
            B[vi, vj] = B[vi, vj] + A[vk, vj]""",
    "read before": "    A[0, 0] = B[0, 0]\n" + ROWS + "B[i, j] = A[i, j]",
    "a column twice": "    for i, j in T.grid(6, 8):\n        B[i, j // 2] = A[i, j]",
    "read in the same loop": """    for i in range(6):
        for j in range(8):
            B[i, j] = A[i, j]
        for j in range(8):
            A[i, j] = B[5 - i, j]""",
}


def parsed(body: str) -> PrimFunc:
    result = parse_text(HEAD + body + "\n", "test")
    assert result.modules, [item.render() for item in result.diagnostics]
    ((_, function),) = result.modules[0].prim_funcs
    return function


def filled(function: PrimFunc, value: float) -> bytes:
    """Return what is in `B` behind a call where it was full of `value`."""
    a, b = np.arange(48, dtype="float32").reshape(6, 8), np.full((6, 8), value, "float32")
    ENGINE.kernel(function, "f")(a, b)
    return b.tobytes()


@pytest.mark.parametrize("name", [*WHOLE, *PART, *UNTOLD])
def test_what_was_there_matters_exactly_where_not_all_is_written(name: str) -> None:
    function = parsed({**WHOLE, **PART, **UNTOLD}[name])
    buffer = function.buffer_of(function.params[1])
    assert buffer is not None
    assert writes_all(function, buffer, {}) == (name in WHOLE)
    if name not in UNTOLD:
        assert (filled(function, 3.0) == filled(function, 7.0)) == (name in WHOLE)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(programs())
def test_a_program_that_writes_all_does_not_show_what_was_there(program: Program) -> None:
    function, sizes, seed = program
    n, m = sizes
    buffer = function.buffer_of(function.params[0])
    assert buffer is not None
    value_of = dict(zip(shape_symbols(function), sizes, strict=True))
    if not writes_all(function, buffer, value_of):
        return
    results: list[Any] = []
    for value in (-7, 11):
        a, b = np.full((n, m), value, "int32"), np.random.default_rng(seed).integers(-9, 9, (m,), "int32")
        try:
            ENGINE.kernel(function, "program")(a, b)
        except RunError as error:
            results.append(error.diagnostics[0].code)
        else:
            results.append(a.tobytes())
    assert results[0] == results[1]


@pytest.mark.parametrize("case", LEGALIZED[::3], ids=str)
def test_the_kernel_of_an_operator_writes_all_of_its_output(case: Case) -> None:
    built = Builder(case, is_symbolic=True)
    assert case.spec.legalize is not None
    legalized = case.spec.legalize(built.call, built.types, case.spec.infer(built.call, built.types))
    if legalized is None:
        return
    kernel = ENGINE.kernel(legalized.prim_func, "f")
    expected = value_of(case)
    result = np.full(expected.shape, 77).astype(expected.dtype)
    inputs = [np.array(built.variables[arg], order="C") for arg in legalized.args if isinstance(arg, Var)]
    args = (*inputs, result, *(int(evaluate(item, SIZES)) for item in legalized.tir_vars))
    bound, _ = kernel.bind(args)
    buffer = [item.buffer for item in kernel.function.buffers][-1]
    assert writes_all(kernel.function, buffer, dict(zip(kernel.signature.symbols, bound.sizes, strict=True)))
    kernel(*args)
    tolerance = TOLERANCE.get(str(expected.dtype), 0)
    np.testing.assert_allclose(result, expected, rtol=tolerance, atol=tolerance)
