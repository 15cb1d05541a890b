"""Where the kernel stops as written, the transformed one stops too, with the same message and the same memory."""

import numpy as np
import pytest

from relax_core.diagnostics import RunError
from relax_core.frontend.parse import parse_text
from relax_core.jit.engine import Engine
from relax_core.jit.options import KernelOptions

TEXT = """
@T.prim_func
def main(A: T.Buffer((16,), "float32"), I: T.Buffer((16,), "int64"), J: T.Buffer((16,), "int64"),
         B: T.Buffer((16,), "float32")):
    for i in range(16):
        {statement}
"""
CHOICE = "B[i] = T.if_then_else({condition}, A[i], T.float32(7))"
STATEMENTS = {
    "a load before a comparison that fails": CHOICE.format(condition="A[I[i]] > T.float32(0) and i < 5"),
    "a load before a comparison that holds": CHOICE.format(condition="A[I[i]] > T.float32(0) or i >= 5"),
    "a load that is not reached": CHOICE.format(condition="i < 5 and A[I[i]] > T.float32(0)"),
    "a load that decides the rest": CHOICE.format(condition="i >= 7 and A[I[i]] > T.float32(0)"),
    "a division before a comparison": CHOICE.format(condition="J[i] // J[0] > T.int64(3) and i < 5"),
    "a load where something is stored": "B[J[I[i]] % T.int64(16)] = A[I[7]]",
    "a division where something is stored": "B[J[i] // J[0] % T.int64(16)] = A[I[7]]",
    "a fixed index": "B[i] = A[I[7]]",
}


def outcome(statement: str, index: int, divisor: int, *, is_transformed: bool) -> tuple[str, bytes]:
    """Run a statement with `index` as the eighth one, and return the message where it stops, and the memory."""
    function = parse_text(TEXT.format(statement=statement), "stops.py").modules[0].prim_funcs[0][1]
    indices, others = np.arange(16), np.arange(16)
    indices[7], others[0] = index, divisor
    out = np.full(16, 3, "float32")
    options = KernelOptions(is_transformed=is_transformed, vector_bits=256, threads=1)
    try:
        Engine(options=options).kernel(function, "main")(np.ones(16, "float32"), indices, others, out)
    except RunError as error:
        return error.diagnostics[0].message, out.tobytes()
    return "", out.tobytes()


@pytest.mark.parametrize("index", [7, 99])
@pytest.mark.parametrize("name", STATEMENTS)
def test_it_stops_where_it_does_as_written(name: str, index: int) -> None:
    for divisor in (0, 1):
        naive, transformed = (
            outcome(STATEMENTS[name], index, divisor, is_transformed=is_transformed) for is_transformed in (False, True)
        )
        assert naive == transformed


GRID = """
@T.prim_func
def main(A: T.Buffer((8, 16), "int32"), D: T.Buffer((8, 16), "int32"), B: T.Buffer((8, 16), "int32")):
    for i, j in T.grid(8, 16):
        B[i, j] = A[i, j] {op} D[i, j]
"""


@pytest.mark.parametrize("op", ["//", "%", "<<", ">>"])
def test_loops_that_are_joined_say_where_they_stop(op: str) -> None:
    function = parse_text(GRID.format(op=op), "grid.py").modules[0].prim_funcs[0][1]
    amounts = np.ones((8, 16), "int32")
    amounts[5, 3] = 0 if op in ("//", "%") else 40
    found: list[tuple[str, bytes]] = []
    for is_transformed in (False, True):
        out = np.zeros((8, 16), "int32")
        options = KernelOptions(is_transformed=is_transformed, vector_bits=256, threads=1)
        with pytest.raises(RunError) as stopped:
            Engine(options=options).kernel(function, "main")(amounts, amounts, out)
        found.append((stopped.value.diagnostics[0].message, out.tobytes()))
    assert found[0] == found[1]
    assert "i = 5, j = 3" in found[0][0]
