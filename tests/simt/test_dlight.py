"""What dlight of apache-tvm makes, behind SplitHostDevice: right and clean, and racy without a needed barrier."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import relax_core as rc

Array = npt.NDArray[Any]
SYNC = 'T.tvm_storage_sync("shared")'
NEEDED, SPARE = True, False


def _softmax(x: Array) -> Array:
    exponents = np.exp(x - x.max(axis=-1, keepdims=True))
    return exponents / exponents.sum(axis=-1, keepdims=True)


def _rms_norm(x: Array, gamma: Array) -> Array:
    return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + 1e-5) * gamma


def _argmax(x: Array) -> Array:
    return np.argmax(x, axis=-1)


def _sum(x: Array) -> Array:
    return np.sum(x, axis=-1)


EXPECTED: dict[str, tuple[Callable[..., Array], list[bool]]] = {
    # Which barriers are needed was read from the texts: behind a spare one only the thread that wrote reads.
    "argmax": (_argmax, [NEEDED, SPARE, SPARE]),
    "softmax": (_softmax, [NEEDED, SPARE, NEEDED, NEEDED, SPARE, NEEDED]),
    "rms_norm": (_rms_norm, [NEEDED, SPARE, NEEDED]),
    "sum": (_sum, [NEEDED, SPARE]),
    "gemv": (np.matmul, [SPARE, NEEDED, NEEDED, NEEDED, NEEDED, SPARE]),
    "matmul": (np.matmul, [NEEDED, NEEDED]),
    "transpose": (np.transpose, [NEEDED]),
}


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    script = Path(__file__).with_name("dlight.py")
    printed = subprocess.run([sys.executable, script, *EXPECTED], capture_output=True, text=True, check=True).stdout
    return json.loads(printed.splitlines()[-1])


def arguments(module: Any, name: str) -> list[Array]:
    generator = np.random.default_rng(0)
    made: list[Array] = []
    for item in module[name].buffers:
        shape = [dim.value for dim in item.buffer.shape]
        made.append(generator.uniform(-1, 1, shape).astype(item.buffer.dtype))
    return made


@pytest.mark.tvm
@pytest.mark.parametrize("name", EXPECTED)
def test_a_kernel_of_tvm_is_right_and_clean(name: str, texts: dict[str, str]) -> None:
    module = rc.parse(texts[name], f"{name}.py")
    entry = module.names[0]
    args = arguments(module, entry)
    found = rc.simulate(module, entry, *args)
    assert found.is_clean
    assert {item.code for item in found.diagnostics} <= {"GP014", "GP015", "GP016"}
    (output,) = found.outputs
    assert output.undefined == 0
    np.testing.assert_allclose(output.value, EXPECTED[name][0](*args[:-1]), rtol=2e-5, atol=1e-5)


@pytest.mark.tvm
@pytest.mark.parametrize("name", EXPECTED)
def test_a_barrier_that_is_taken_out_races_if_it_is_needed(name: str, texts: dict[str, str]) -> None:
    parts = texts[name].split(SYNC)
    whole = rc.parse(texts[name], f"{name}.py")
    whole_found = rc.simulate(whole, whole.names[0], *arguments(whole, whole.names[0]))
    verdicts: list[bool] = []
    for at in range(1, len(parts)):
        text = SYNC.join(parts[:at]) + "T.evaluate(0)" + SYNC.join(parts[at:])
        module = rc.parse(text, f"{name}.py")
        found = rc.simulate(module, module.names[0], *arguments(module, module.names[0]))
        assert all("race" in item.message for item in found.diagnostics if item.severity != "note")
        verdicts.append(not found.is_clean)
    assert verdicts == EXPECTED[name][1]
    told = [item for item in whole_found.diagnostics if item.code == "GP016"]
    assert [item.span and item.span.start for item in told] == [
        len(SYNC.join(parts[: at + 1])) for at, is_needed in enumerate(verdicts) if not is_needed
    ]


@pytest.mark.tvm
def test_banks_of_shared_memory_and_sectors_of_global_memory_are_counted(texts: dict[str, str]) -> None:
    module = rc.parse(texts["transpose"], "transpose.py")
    found = rc.simulate(module, module.names[0], *arguments(module, module.names[0]))
    # 16 by 8 threads and rows of 33 words: a warp stores 4 columns apart, and loads two rows at once.
    assert {(item.way, item.kind, item.worst) for item in found.accesses} == {
        ("load", "global", 0), ("store", "shared", 4), ("load", "shared", 2), ("store", "global", 0),
    }  # fmt: skip
    (load,) = [item for item in found.accesses if (item.way, item.kind) == ("load", "global")]
    assert load.sectors / load.warps == 4
