"""Loops that compute the same in each round are found, and are compiled in no more time than others."""

import numpy as np
import pytest

from relax_core.ir.node import postorder
from relax_core.ir.tir import For
from relax_core.jit.engine import Engine
from relax_core.jit.lowering.known.repeated import repeats_itself
from relax_core.jit.options import KernelOptions
from tests.jit.programs import parsed

HEAD = "def main(A: T.Buffer((30,), 'float32'), B: T.Buffer((30, 30), 'float32'), C: T.Buffer((40, 30), 'float32')):\n"
PROGRAMS = {
    "the same in every row and column": (
        """
    for i in range(40):
        for j in range(30):
            C[i, j] = T.float32(0.5)
            for k in range(30):
                C[i, j] = T.min(C[i, j], A[k])
""",
        "ij",
    ),
    "the same in every row, in a block": (
        """
    for i, j, k in T.grid(40, 30, 30):
        with T.sblock("least"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            T.where(i + j < 60)
            with T.init():
                C[vi, vj] = T.float32(0.5)
            C[vi, vj] = T.min(C[vi, vj], B[vj, vk])
""",
        "i",
    ),
    "another in every row, by way of a variable": (
        """
    for i in range(30):
        row: T.int32 = i
        for j in range(30):
            C[i, j] = T.float32(0.5)
            for k in range(30):
                C[i, j] = T.max(C[i, j], B[row, k])
""",
        "j",
    ),
    "not started anew": (
        """
    for i in range(40):
        for k in range(30):
            C[i, 0] = T.max(C[i, 0], A[k])
""",
        "",
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_loops_that_repeat_themselves_are_found(name: str) -> None:
    text, expected = PROGRAMS[name]
    loops = [item for item in postorder(parsed(HEAD + text)) if isinstance(item, For)]
    assert {loop.var.name for loop in loops if repeats_itself(loop)} == set(expected)


@pytest.mark.parametrize("is_transformed", [True, False])
@pytest.mark.parametrize("name", PROGRAMS)
def test_they_are_compiled_to_what_they_say(name: str, is_transformed: bool) -> None:
    random = np.random.default_rng(0)
    a, b, c = (random.standard_normal(shape).astype(np.float32) for shape in ((30,), (30, 30), (40, 30)))
    expected = c.copy()
    match name:
        case "the same in every row and column":
            expected[...] = min(0.5, a.min())
        case "the same in every row, in a block":
            is_inside = np.add.outer(np.arange(40), np.arange(30)) < 60
            expected = np.where(is_inside, np.minimum(0.5, b.min(axis=1)), c)
        case "another in every row, by way of a variable":
            expected[:30] = np.maximum(0.5, b.max(axis=1))[:, None]
        case _:
            expected[:, 0] = np.maximum(c[:, 0], a.max())
    engine = Engine(options=KernelOptions(is_transformed=is_transformed))
    # Without what is tested, LLVM would not come to an end here.
    engine.kernel(parsed(HEAD + PROGRAMS[name][0]), "main")(a, b, c)
    np.testing.assert_array_equal(c, expected)
