"""The samples of prim funcs compute what NumPy does, and the broken ones stop at their marked line."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from relax_core.diagnostics import DiagnosedError, has_errors
from relax_core.frontend.parse import parse_text
from relax_core.ir.tir import PrimFunc
from relax_core.jit.engine import Engine
from relax_core.jit.lowering.known.ranges import access_report
from relax_core.jit.options import KernelOptions
from tests.callables import Compute

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
RANDOM = np.random.default_rng(0)


def sample(path: str) -> tuple[str, PrimFunc]:
    """Parse a sample and return its only prim func with its name."""
    parsed = parse_text((SAMPLES / path).read_text(encoding="utf-8"), path)
    assert not has_errors(parsed.diagnostics), [item.render() for item in parsed.diagnostics]
    ((var, function),) = parsed.modules[0].prim_funcs
    return var.name, function


def random(*shape: int) -> Any:
    return RANDOM.random(shape, "float32")


def softmax(x: Any) -> Any:
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def average(x: Any) -> Any:
    padded = np.pad(x, 1)
    return (padded[:-2] + x + padded[2:]) / np.float32(3)


def first_even_place(x: Any) -> Any:
    found = [[place for place in range(0, len(row), 2) if row[place] > 0.5] for row in x]
    return np.array([places[0] if places else -1 for places in found], "int32")


VALUES: dict[str, tuple[list[Any], Compute[Any, Any]]] = {
    "exp": ([random(37)], np.exp),
    "matmul": ([random(5, 7), random(7, 3)], np.matmul),
    "row_softmax": ([random(4, 9)], softmax),
    "int32_dimensions": ([random(6)], lambda x: x[::-1]),
    "stencil": ([random(8)], average),
    "split_loop": ([random(6, 4)], np.transpose),
    "while_loop": ([np.array([0, 1, 3, 4, 99, 100], "int32")], lambda x: np.sqrt(x).astype("int32")),
    "variables": ([random(9)], np.maximum.accumulate),
    "early_exit": ([random(7, 9)], first_even_place),
    "to_schedule": ([random(32, 48), random(48, 24)], np.matmul),
    "gather": ([random(5, 2), np.array([4, 0, 4])], lambda table, index: table[index]),
}


@pytest.mark.parametrize("path", sorted((SAMPLES / "tir").glob("*.py")), ids=lambda path: path.stem)
def test_a_sample_agrees_with_numpy(path: Path) -> None:
    name, function = sample(f"tir/{path.name}")
    inputs, compute = VALUES[path.stem]
    expected = compute(*inputs)
    out = np.empty(expected.shape, expected.dtype)
    Engine().kernel(function, name)(*inputs, out)
    np.testing.assert_allclose(out, expected, rtol=1e-6)


@pytest.mark.parametrize("name", sorted({*VALUES} - {"gather"}))
def test_all_accesses_of_the_sample_are_proven(name: str) -> None:
    assert all(fact.proven for fact in access_report(sample(f"tir/{name}.py")[1]))


def test_an_index_that_is_data_is_checked() -> None:
    facts = access_report(sample("tir/gather.py")[1])
    assert [fact.condition for fact in facts if not fact.proven] == ["0 <= Index[i] < m"]


FINDING = KernelOptions(finds_uninitialised=True)


@pytest.mark.parametrize("path", sorted((SAMPLES / "errors").glob("jt_*.py")), ids=lambda path: path.stem)
def test_a_broken_sample_stops_at_its_mark(path: Path) -> None:
    name, function = sample(f"errors/{path.name}")
    dtype = function.buffers[0].buffer.dtype
    with pytest.raises(DiagnosedError) as caught:
        Engine(fuel=100_000, options=FINDING).kernel(function, name)(np.ones(4, dtype), np.ones(4, dtype))
    marked = [
        (number, line.split("#!")[1].strip())
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if "#!" in line
    ]
    assert [(item.span.line, item.code) for item in caught.value.diagnostics if item.span] == marked


def test_the_message_of_an_access_behind_the_end() -> None:
    name, function = sample("errors/jt_out_of_range.py")
    with pytest.raises(DiagnosedError) as caught:
        Engine().kernel(function, name)(np.ones(4, "float32"), np.ones(4, "float32"))
    assert caught.value.diagnostics[0].render().splitlines() == [
        "errors/jt_out_of_range.py:17:20: error[JT010]: Out of range. `X[i + 1]`: i + 1 = 4, but X has 4 elements"
        " (load at i = 3)",
        "                Y[i] = X[i + 1]  #! JT010",
        "                       ^^^^^^^^",
        "hint: It is in range only if `i + 1 < n`.",
        "see: errors/jt_out_of_range.py:14:13: `X` has shape (n,)",
    ]
