"""Transpositions that are left out of a run that nobody records: the product reads the matrix itself."""

from functools import lru_cache
from typing import Any

import numpy as np
import pytest

from relax_core.bytecode.executable import Executable
from relax_core.bytecode.isa import CallInstruction
from relax_core.jit.engine import Engine
from relax_core.vm.machine import Machine
from tests.vm.programs import executable_of
from tests.vm.tiers import differences

PROGRAM = """# from tvm.script import ir as I, relax as R, tirx as T
@I.ir_module
class Module:
    @R.function
    def main({params}):
        {body}
"""
MATRICES = 'x: R.Tensor((5, 24), "float32"), w: R.Tensor((17, 24), "float32")'
BATCH = 'x: R.Tensor((2, 3, 5, 24), "float32"), w: R.Tensor((2, 17, 3, 24), "float32")'
LEFT_OUT = {
    "weights": (MATRICES, "return R.matmul(x, R.permute_dims(w, [1, 0]))"),
    "one row": (MATRICES.replace("5, 24", "1, 24"), "return R.matmul(x, R.permute_dims(w, [1, 0]))"),
    "one column": (MATRICES.replace("17, 24", "1, 24"), "return R.matmul(x, R.permute_dims(w, [1, 0]))"),
    "the first operand": (MATRICES, "return R.matmul(w, R.permute_dims(x, [1, 0]))"),
    "keys of attention": (BATCH, "return R.matmul(x, R.permute_dims(w, [0, 2, 3, 1]))"),
    "two after each other": (
        MATRICES + ', v: R.Tensor((9, 17), "float32")',
        "return R.matmul(R.matmul(x, R.permute_dims(w, [1, 0])), R.permute_dims(v, [1, 0]))",
    ),
    "before a branch": (
        MATRICES + ', c: R.Tensor((), "bool")',
        "y = R.matmul(x, R.permute_dims(w, [1, 0]))\n"
        "        if c:\n            z = R.add(y, y)\n        else:\n            z = y\n        return z",
    ),
}
KEPT = {
    "a number of rows that is not known": (
        MATRICES.replace("(5, 24)", '("n", 24)'),
        "return R.matmul(x, R.permute_dims(w, [1, 0]))",
    ),
    "it is returned, too": (MATRICES, "t = R.permute_dims(w, [1, 0])\n        return R.matmul(x, t), t"),
    "it is added": (MATRICES.replace("5, 24", "24, 17"), "return R.add(x, R.permute_dims(w, [1, 0]))"),
    "two products": (MATRICES, "t = R.permute_dims(w, [1, 0])\n        return R.matmul(x, t), R.matmul(R.abs(x), t)"),
    "multiplied by itself": (
        MATRICES.replace("17, 24", "24, 24"),
        "t = R.permute_dims(w, [1, 0])\n        return R.matmul(t, t)",
    ),
    "something is computed in between": (
        MATRICES,
        "t = R.permute_dims(w, [1, 0])\n        y = R.exp(x)\n        return R.matmul(y, t)",
    ),
}
ARGUMENTS: dict[str, dict[str, Any]] = {name: {"x": (5, 24), "w": (17, 24)} for name in (*LEFT_OUT, *KEPT)} | {
    "one row": {"x": (1, 24), "w": (17, 24)},
    "one column": {"x": (5, 24), "w": (1, 24)},
    "keys of attention": {"x": (2, 3, 5, 24), "w": (2, 17, 3, 24)},
    "two after each other": {"x": (5, 24), "w": (17, 24), "v": (9, 17)},
    "before a branch": {"x": (5, 24), "w": (17, 24), "c": ()},
    "it is added": {"x": (24, 17), "w": (17, 24)},
    "multiplied by itself": {"x": (5, 24), "w": (24, 24)},
}


@lru_cache
def built(name: str) -> Executable:
    params, body = (LEFT_OUT | KEPT)[name]
    return executable_of(PROGRAM.format(params=params, body=body), "program.py", None)


@lru_cache
def engine() -> Engine:
    return Engine()


def arguments(name: str) -> tuple[np.ndarray[Any, Any], ...]:
    random = np.random.default_rng(0)
    shapes = ARGUMENTS[name]
    return tuple(
        np.array(True) if key == "c" else np.asarray(random.standard_normal(shape), "float32")
        for key, shape in shapes.items()
    )


def kernels_called(name: str) -> int:
    """Return how many kernels generated code calls in a run that is not recorded."""
    machine = Machine(built(name), record=False, engine=engine())
    machine.call("main", arguments(name))
    lines = machine.tier.text_of(built(name).index_of["main"]).splitlines()
    return sum("maker" in line or "kernel" in line for line in lines)


def calls(name: str) -> int:
    """Return how many kernels the bytecode calls."""
    executable = built(name)
    return sum(
        isinstance(item, CallInstruction) and executable.functions[item.function].kind == "kernel"
        for item in executable.instructions
    )


@pytest.mark.parametrize("name", [*LEFT_OUT, *KEPT])
def test_all_tiers_agree(name: str) -> None:
    found = differences(built(name), "main", lambda: arguments(name), engine=engine())
    assert not found, "\n".join(found)


@pytest.mark.parametrize("name", LEFT_OUT)
def test_what_only_a_product_reads_is_not_transposed(name: str) -> None:
    count = len([key for key in built(name).index_of if key.startswith("transpose")])
    assert kernels_called(name) == calls(name) - count


@pytest.mark.parametrize("name", KEPT)
def test_what_is_read_elsewhere_is_transposed(name: str) -> None:
    shape_functions = len([key for key in built(name).index_of if key == "shape_func"])
    assert kernels_called(name) == calls(name) - shape_functions
