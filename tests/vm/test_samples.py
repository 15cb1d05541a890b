"""Every sample of samples/relax has an expected value, and those of samples/errors/vm_* stop at their mark."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from relax_core.vm.limits import Limits
from tests.callables import Compute
from tests.narrow import is_tuple
from tests.vm.assemble import result_of
from tests.vm.programs import SAMPLES, floats, run_sample, sample_text

Values = tuple[Any, ...]


def closure_positions(scale: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda x, c: (*(scale(x) for _ in range(4)), scale(x) if c else -x)


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def mlp(x: Any, w1: Any, b1: Any, w2: Any) -> Any:
    return softmax(np.maximum(x @ w1 + b1, 0) @ w2)


def loss(x: Any, w: Any, b: Any, labels: Any) -> Any:
    probabilities: Any = np.log(softmax(x @ w + b)) * labels
    return -probabilities.sum(axis=1).mean()


def gated(x: Any, w1: Any, b1: Any, w2: Any) -> Any:
    hidden = np.maximum(x @ w1 + b1, 0)
    return np.maximum(0.5 / (1 + np.exp(-hidden - np.sin(hidden))) @ w2, 0)


def doubled_product(x: Any, w: Any) -> Any:
    return (2 * (x @ w)).ravel()


def symbolic(x: Any, y: Any) -> Values:
    flat = (x @ y).ravel()
    return np.concatenate([flat, flat]), (2 * flat.size,)


X = floats(3)
N = np.array
# sample -> (arguments, expected from them); closures in a result are not compared
EXPECTED: dict[str, tuple[Values, Compute[Any, Any]]] = {
    "callback": ((X, X + 1), lambda x, y: x * y),
    "closure_captures": ((X, N(True)), closure_positions(lambda x: x * x)),
    "closure_global": ((X, N(True)), closure_positions(lambda x: x + x)),
    "closure_local": ((X, N(False)), closure_positions(lambda x: x + x)),
    "closure_printed": ((floats(2, 3),), lambda x: x),
    "closure_returned": ((X, X + 1), lambda x, y: y + (x + y)),
    "dialect_2022": ((floats(2, 3), floats(3, 4)), doubled_product),
    "dialect_2023": ((floats(2, 3), floats(3, 4)), doubled_product),
    "dialect_2026": ((2, floats(3, 4)), lambda n, w: doubled_product(np.ones((n, 3), np.float32), w)),
    "even_odd": ((N(3), floats(2)), lambda n, x: -x),
    "fib": ((N(10),), lambda n: 55),
    "inplace_update": ((floats(2, 3),), lambda x: x + x + 1 + 1),
    "loop": ((N(5), floats(2, 2)), lambda n, x: 6 * x),
    "loss": ((floats(4, 8), floats(8, 3), floats(3), floats(4, 3)), loss),
    "metadata_table": ((floats(2, 2),), lambda x: (x + N([[1, 2], [3, 4]])) * np.eye(2)),
    "mlp": ((floats(4, 8), floats(8, 16), floats(16), floats(16, 3)), mlp),
    "packed_tile": ((floats(2, 3),), lambda x: np.tile(x, (1, 2))),
    "partition_paths": ((floats(4, 8), floats(8, 16), floats(16), floats(16, 16)), gated),
    "several_modules": ((floats(2, 3),), lambda x: x + x),
    "storage_reused": ((floats(4),), lambda x: 16 * x),
    "symbolic_shapes": ((floats(2, 3), floats(3, 5)), symbolic),
    "unreached_packed": ((X, N(False)), lambda x, c: x + x),
    "virtual_devices": ((floats(2, 3),), np.exp),
    "void_callee": ((X,), lambda x: x + x),
}
FAILING: dict[str, Values] = {
    "vm_assertion": (N(False), floats(2)),
    "vm_constant_written": (),
    "vm_endless_loop": (N([1]),),
    "vm_host_failure": (X, floats(4)),
    "vm_huge_tensor": (),
    "vm_match_cast": (X,),
    "vm_missing_packed": (X,),
    "vm_packed_kind": (floats(2),),
    "vm_packed_range": (floats(2, 3),),
    "vm_storage_outside": (floats(4),),
    "vm_storage_unaligned": (floats(4),),
    "vm_unbounded_recursion": (N(3),),
    "vm_wrong_dimension": (X, floats(4)),
}
OUTPUT = {
    "closure_printed": ["<closure>", str(floats(2, 3))],
    "closure_captures": ["<closure>"],
    "closure_global": ["<closure>"],
    "closure_local": ["<closure>"],
    "void_callee": [str(X), str(X)],
}


def test_every_sample_has_an_expected_value() -> None:
    assert set(EXPECTED) == {path.stem for path in (SAMPLES / "relax").glob("*.py")}
    assert set(FAILING) == {path.stem for path in (SAMPLES / "errors").glob("vm_*.py")}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_sample_gives_what_numpy_gives(name: str) -> None:
    args, compute = EXPECTED[name]
    trace = run_sample(f"relax/{name}.py", *args, entry=entry_of(name))
    agree(result_of(trace), compute(*args))
    assert name not in OUTPUT or [line.text for line in trace.output] == OUTPUT[name]


@pytest.mark.parametrize("passes", ["Normalize, LambdaLift", "Normalize, LambdaLift, LegalizeOps"])
@pytest.mark.parametrize("name", EXPECTED)
def test_a_sample_that_is_lowered_in_part_gives_the_same(name: str, passes: str) -> None:
    args, compute = EXPECTED[name]
    trace = run_sample(f"relax/{name}.py", *args, entry=entry_of(name), passes=passes)
    agree(result_of(trace), compute(*args))


@pytest.mark.parametrize("name", EXPECTED)
def test_a_sample_that_is_not_recorded_gives_the_same(name: str) -> None:
    args, compute = EXPECTED[name]
    trace = run_sample(f"relax/{name}.py", *args, entry=entry_of(name), record=False)
    agree(result_of(trace), compute(*args))


@pytest.mark.parametrize("name", FAILING)
def test_a_failing_sample_stops_at_its_mark(name: str) -> None:
    text = sample_text(f"errors/{name}.py")
    marks = [
        (match[1], number)
        for number, line in enumerate(text.splitlines(), 1)
        if (match := re.search(r"#! (\w+)", line))
    ]
    limits = Limits(seconds=0.3) if name == "vm_endless_loop" else None
    error = run_sample(f"errors/{name}.py", *FAILING[name], limits=limits).error
    assert error is not None
    assert error.span is not None
    assert [(error.code, error.span.line)] == marks


def entry_of(name: str) -> str:
    return "relax_func" if name.startswith("my_ir_module") else "main"


def agree(found: Any, expected: Any) -> None:
    if is_tuple(expected):
        for field, wanted in zip(found[: len(expected)], expected, strict=True):
            agree(field, wanted)
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
