"""The programs of seed 001 planned, lowered and run in the machine: they agree with NumPy."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import relax_core as rc
from relax_core.engine.inputs import generate
from relax_core.ir.expr import Function
from tests.callables import Compute

SAMPLES = Path(__file__).resolve().parents[3] / "samples" / "relay"
PLAN = "PlanDevices(default='cuda')"
Array = npt.NDArray[Any]


def twelve(x: Array) -> Array:
    y = np.tanh((-x + -x) * 0.5) + 1
    return np.clip(np.sqrt(np.exp(y)) ** 2, -1, 1) - 0.25


def lstm(a: Array, b: Array, c: Array, weight: Array, bias: Array) -> Array:
    hidden = memory = np.zeros((1, 3), "float32")
    for x in (a, b, c):
        first, forget, new, last = np.split(np.concatenate((x, hidden), 1) @ weight.T + bias, 4, 1)
        memory = sigmoid(forget) * memory + sigmoid(first) * np.tanh(new)
        hidden = sigmoid(last) * np.tanh(memory)
    return hidden


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


PROGRAMS: dict[str, Compute[Any, Array]] = {
    "tensor_array": lambda a, b: np.stack((a, b)),
    "map_three_times": lambda a, b: np.stack((-a, -b)),
    "map_twelve_times": lambda a, b: np.stack((twelve(a), twelve(b))),
    "map_through_two": lambda a, b: a * 0.5 + b * 0.5,
    "map_through_three": lambda a, b: a * 0.5 + b * 0.5,
    "lstm_list": lstm,
    "even_odd": lambda: (True, False),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_plans_lowers_runs_and_agrees_with_numpy(name: str) -> None:
    module = rc.parse((SAMPLES / f"{name}.relay").read_text(encoding="utf-8"), f"{name}.relay")
    function = module["main"]
    assert isinstance(function, Function)
    args = generate(function, 5, {})
    wanted = PROGRAMS[name](*args)
    planned = rc.run_pipeline(module, PLAN)[-1]
    assert planned.diagnostics == ()
    memory = rc.run_pipeline(module, f"{PLAN}, ManifestAlloc, ManifestLifetimes")[-1]
    assert memory.diagnostics == ()
    for result in (
        rc.VirtualMachine(rc.build(planned.after))["main"](*args),
        rc.evaluate(planned.after, "main", *args),
        rc.evaluate(memory.after, "main", *args),
    ):
        # float32 against NumPy's float64 and another order of sums.
        np.testing.assert_allclose(content(result), wanted, rtol=2e-5, atol=2e-6)


def content(result: Any) -> Any:
    """Return the tensor in a `tensor_constructor_...`, any other result itself."""
    fields = getattr(result, "fields", None)
    return result if fields is None else fields[0]
