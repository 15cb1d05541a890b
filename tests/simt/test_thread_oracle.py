"""What dlight makes of more operators and shapes: our verdicts, with each barrier taken out, are those of an oracle."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import relax_core as rc
from relax_core.simt.signature import hosts
from tests.simt.thread_oracle import SYNC, verdicts

SOURCE = """
def kernel(A_ptr, B_ptr):
    A = T.decl_buffer((64,), data=A_ptr)
    B = T.decl_buffer((64,), data=B_ptr)
    tx = T.launch_thread("threadIdx.x", 64)
    S = T.alloc_shared((64,))
    S[tx] = A[tx]
    T.tvm_storage_sync("shared")
    B[tx] = S[63 - tx]
    T.tvm_storage_sync("shared")
"""
NAMES = ("argmax", "softmax", "gemv", "argmax 4x33", "softmax 2x3x100", "softmax 5x64", "rms_norm 1x1000",
         "layer_norm 5x64", "sum of all", "variance", "transposed gemv", "transpose 33x65", "relu", "matmul 33x65x17",
         "conv2d", "scores")  # fmt: skip


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    script = Path(__file__).with_name("dlight.py")
    printed = subprocess.run([sys.executable, script, *NAMES], capture_output=True, text=True, check=True).stdout
    return json.loads(printed.splitlines()[-1])


def is_racy(text: str) -> bool:
    module = rc.parse(text, "kernel.py")
    return not all(rc.simulate(module, name, *_arguments(module, name)).is_clean for name in hosts(module))


def _arguments(module: Any, name: str) -> list[Any]:
    generator = np.random.default_rng(0)
    shapes = [([dim.value for dim in item.buffer.shape], item.buffer.dtype) for item in module[name].buffers]
    return [generator.uniform(-1, 1, shape).astype(dtype) for shape, dtype in shapes]


@pytest.mark.tvm
@pytest.mark.parametrize("name", NAMES)
def test_verdicts_are_those_of_all_pairs_of_accesses(name: str, texts: dict[str, str]) -> None:
    lines = texts[name].split("\n")
    barriers = [at for at, line in enumerate(lines) if SYNC in line]
    found = [is_racy(texts[name])]
    for at in barriers:
        indent = lines[at].partition("T.")[0]
        found.append(is_racy("\n".join([*lines[:at], f"{indent}T.evaluate(0)", *lines[at + 1 :]])))
    assert found == verdicts(texts[name])
    assert not found[0]


def test_the_oracle_tells_a_needed_barrier_from_a_spare_one() -> None:
    assert verdicts(SOURCE) == [False, True, False]
