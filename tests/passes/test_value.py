"""Passes keep the value of a program, whichever of them run."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings

from relax_core.bytecode.build import build
from relax_core.ir.module import IRModule
from relax_core.passes.pipeline import DEFAULT_PIPELINE
from relax_core.vm.virtual_machine import VirtualMachine
from tests.callables import Compute
from tests.narrow import is_tuple
from tests.passes.programs import parse, program
from tests.strategies import Program, programs

Array = npt.NDArray[Any]

PIPELINES = (
    "",
    "Normalize, LambdaLift(names='2022')",
    "Normalize, LambdaLift, ElideClosureWrappers",
    "Normalize, LambdaLift(names='2022'), ElideClosureWrappers, CanonicalizeBindings, DeadCodeElimination",
    "Normalize, LegalizeOps(operators=['add', 'exp'])",
    "Normalize, LegalizeOps(functions=['main']), ToNonDataflow, CallTIRRewrite",
    DEFAULT_PIPELINE,
    DEFAULT_PIPELINE.replace("LowerAllocTensor", "LowerAllocTensor, KillAfterLastUse"),
    DEFAULT_PIPELINE.replace("VMShapeLower", "KillAfterLastUse, LowerRuntimeBuiltin, VMShapeLower"),
)

TWICE_FOR_NEGATIVE = """
    @T.prim_func
    def twice(x: T.handle, y: T.handle):
        n = T.int64()
        A = T.match_buffer(x, (n,), "float32")
        B = T.match_buffer(y, (n,), "float32")
        for i in range(n):
            B[i] = A[i] + A[i]

    @R.function
    def main(x: R.Tensor((3,), "float32")):
        y = R.negative(x)
        return y
"""

X2 = np.array([0.5, -2.0], "float32")
X3 = np.array([1.0, -2.0, 0.25], "float32")
GRID = np.arange(6, dtype="float32").reshape(2, 3)
TRUE, FALSE = np.array(True), np.array(False)


def _rows(n: int) -> Array:
    return np.linspace(-1, 1, 4 * n, dtype="float32").reshape(n, 4)


def _symbolic(x: Array, y: Array) -> tuple[Array, Array]:
    total = x.reshape(-1) + y
    return total, np.zeros((total.size + 1, 2), "float32")


# name -> arguments and the function that says what comes out
VALUES: Mapping[str, tuple[tuple[Any, ...], Compute[Any, Any]]] = MappingProxyType(
    {
        "nested_calls": ((_rows(1)[0],), lambda x: np.exp(x) + x * -x),
        "capture": ((X3,), lambda x: x * x),
        "captured_dimension": ((GRID,), lambda x: (np.full((2, 3), 2.0, "float32"), (x + 1).reshape(-1))),
        "dimension_in_recursion": ((X3, np.array(4)), lambda x, k: x + int(k)),
        "recursion": ((np.array(3), X2), lambda n, x: x * (int(n) + 1)),
        "mutual_recursion": ((np.array(5), X2), lambda n, x: x if int(n) % 2 == 0 else -x),
        "nested_lambdas": ((X2,), lambda x: (x + x) * x),
        "returned_closure": ((X2,), lambda x: x + x),
        "in_tuple_and_branch": ((X2, FALSE), lambda x, c: x + x if c else -x),
        "dataflow": ((_rows(3),), lambda x: np.exp(x) + x),
        "casts": ((X2, _rows(2)), lambda x, y: (y.reshape(-1), x + x)),
        "dead": ((X2,), np.exp),
        "operators": ((_rows(3), _rows(4)), lambda x, w: np.maximum(2 * np.maximum(x @ w, 0), 0)),
        "call_tir": ((X3,), lambda x: np.tile((x + x).reshape(1, -1), (1, 2))),
        "several_outputs": ((_rows(1)[0],), lambda x: (x[:2], x[:2] + x[2:])),
        "scalars": ((3, GRID.T.copy()), lambda n, x: (np.zeros(4, "float32"), x.reshape(-1), 2 * n)),
        "growing_recursion": ((X2,), lambda x: np.append(x, [1, 1, 1]).astype("float32")),
        "casts_in_branches": ((X3, TRUE), lambda x, c: x.sum() if c else np.float32(0)),
        "branches": ((X2, TRUE), lambda x, c: np.square(np.exp(-2 * np.exp(x)) if c else 2 * np.exp(x) + x)),
    }
)


def run(module: IRModule, passes: str, *args: Any) -> Any:
    """Build `module` through `passes` and run its `main`; what it prints is dropped."""
    return VirtualMachine(build(module, passes=passes), on_output=lambda _: None)["main"](*args)


def same(a: Any, b: Any) -> None:
    """Compare arrays and tuples of them; kernels and NumPy may round the last bits of float32 differently."""
    if is_tuple(a):
        assert is_tuple(b)
        assert len(a) == len(b)
        for left, right in zip(a, b, strict=True):
            same(left, right)
    else:
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("passes", PIPELINES)
@pytest.mark.parametrize("name", VALUES)
def test_a_program_gives_what_numpy_gives(name: str, passes: str) -> None:
    args, expected = VALUES[name]
    same(run(program(name), passes, *args), expected(*args))


@pytest.mark.parametrize("passes", PIPELINES)
def test_symbolic_shapes_are_computed(passes: str) -> None:
    y = np.ones(6, "float32")
    shape = (2, 2)
    same(run(program("symbolic"), passes, GRID, shape, y), _symbolic(GRID, y))


@given(programs())
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_random_programs_keep_their_value(drawn: Program) -> None:
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal(drawn.shape).astype("float32") for _ in range(2))
    expected = run(drawn.module, PIPELINES[0], x, y)
    for passes in PIPELINES[1:]:
        same(run(drawn.module, passes, x, y), expected)


def test_one_operator_may_be_a_packed_function() -> None:
    module = program("capture")
    args = (X3,)
    passes = "Normalize, LambdaLift, LegalizeOps(custom={'multiply': 'call:custom_add'})"
    same(run(module, passes, *args), X3 + X3)


def test_one_operator_may_be_a_prim_func_of_the_module() -> None:
    module = parse(TWICE_FOR_NEGATIVE)
    same(run(module, "LegalizeOps(custom={'negative': 'twice'})", X3), X3 + X3)


ENDED = """
    @R.function(pure=False)
    def main(x: R.Tensor((3,), "float32")):
        a = R.call_packed("custom_add", x, x, ty_args=(R.Tensor((3,), "float32"),))
        {}
        return c
"""


@pytest.mark.parametrize("passes", PIPELINES)
@pytest.mark.parametrize(
    "lines",
    [
        "b = (a, x); R.vm.kill_object(a); c = b[0]",
        "b = a; R.vm.kill_object(a); c = b",
        "b = a; R.vm.kill_object(b); c = a",
        "b = a; d = b; R.vm.kill_object(a); R.vm.kill_object(b); c = (d, d)[1]",
    ],
)
def test_a_value_outlives_one_of_its_names(lines: str, passes: str) -> None:
    module = parse(ENDED.format(lines.replace("; ", "\n        ")))
    assert np.array_equal(VirtualMachine(build(module, passes=passes))["main"](X3), X3 + X3)
