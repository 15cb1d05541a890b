"""Each transformation can be switched off: what it would have taken is lowered otherwise, to the same values."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from relax_core.diagnostics import CompileError, RunError
from relax_core.ir.integer.evaluate import evaluate
from relax_core.ir.tir import PrimFunc
from relax_core.jit.engine import Engine
from relax_core.jit.lowering.known.symbols import shape_symbols
from relax_core.jit.options import KernelOptions, Mode
from relax_core.jit.step_costs import step_costs
from relax_core.jit.transforms.registry import SUMMARIES, TRANSFORMS, without
from relax_core.jit.ways import Timed
from tests.jit.programs import parsed
from tests.jit.transforms.nests import Array, agree, applied


@dataclass(frozen=True)
class Case:
    """A prim func that the transformation takes, with one array for each parameter, the indices in range."""

    text: str
    mode: Mode = "exact"
    tolerance: float = 0.0
    vector_bits: int = 256


def _each(params: str, body: str) -> str:
    return f"def f({params}):\n" + "".join(f"    {line}\n" for line in body.splitlines())


def _reduction(extents: str, axes: str, store: str, value: str, params: str) -> str:
    names = ", ".join(f"i{at}" for at in range(len(axes)))
    body = f"""for {names} in T.grid({extents}):
    with T.block("b"):
        {names.replace("i", "v")} = T.axis.remap("{axes}", [{names}])
        with T.init():
            {store} = T.float32(0)
        {store} = {value}"""
    return _each(params, body)


ROWS = 'A: T.Buffer((64, 96), "float32"), o: T.Buffer((64,), "float32")'
FLAT = 'A: T.Buffer((64, 64), "float32"), o: T.Buffer((4096,), "float32")'
PLACED = 'A: T.Buffer((64, 64), "float32"), I: T.Buffer((64,), "int32"), o: T.Buffer((64,), "float32")'
CASES = {
    "fuse": Case(
        _each(
            'A: T.Buffer((64, 64), "float32"), o: T.Buffer((64, 64), "float32")',
            "B = T.alloc_buffer((64, 64))\nfor i, j in T.grid(64, 64):\n    B[i, j] = A[i, j] + T.float32(1)\n"
            "for i, j in T.grid(64, 64):\n    o[i, j] = B[i, j] * T.float32(2)",
        )
    ),
    "split": Case(
        _each(FLAT, "for i in range(4000):\n    o[i] = T.if_then_else(i < 7, A[i // 64, 0], T.float32(2))"),
    ),
    "split_any": Case(
        _each(
            "a: T.handle, b: T.handle, c: T.handle",
            """n = T.int64()
m = T.int64()
A = T.match_buffer(a, (n,), "float32")
B = T.match_buffer(b, (m,), "float32")
o = T.match_buffer(c, (n + m,), "float32")
for i in range(n + m):
    o[i] = T.if_then_else(i < n, A[i], B[i - n])""",
        )
    ),
    "hoist": Case(_each(PLACED, "for j in range(64):\n    for i in range(64):\n        o[j] = A[I[3], i]")),
    "parallel": Case(
        _each(
            'A: T.Buffer((320, 400), "float32"), o: T.Buffer((320, 400), "float32")',
            "for i, j in T.grid(320, 400):\n    o[i, j] = T.exp(A[i, j])",
        ),
        vector_bits=128,
    ),
    "tile": Case(
        _reduction(
            "64, 64, 48",
            "SSR",
            "o[v0, v1]",
            "o[v0, v1] + A[v0, v2] * B[v2, v1]",
            'A: T.Buffer((64, 48), "float32"), B: T.Buffer((48, 64), "float32"), o: T.Buffer((64, 64), "float32")',
        )
    ),
    "tile_any": Case(
        _each(
            "a: T.handle, b: T.handle, c: T.handle",
            """n = T.int64()
m = T.int64()
A = T.match_buffer(a, (n, 48), "float32")
B = T.match_buffer(b, (48, m), "float32")
o = T.match_buffer(c, (n, m), "float32")
for i0, i1, i2 in T.grid(n, m, 48):
    with T.block("b"):
        v0, v1, v2 = T.axis.remap("SSR", [i0, i1, i2])
        with T.init():
            o[v0, v1] = T.float32(0)
        o[v0, v1] = o[v0, v1] + A[v0, v2] * B[v2, v1]""",
        )
    ),
    "columns": Case(
        _reduction(
            "96, 64",
            "SR",
            "o[v0]",
            "o[v0] + A[v1, v0]",
            'A: T.Buffer((64, 96), "float32"), o: T.Buffer((96,), "float32")',
        )
    ),
    # The sum of a row is then that of the text, and differs from the sum of its lanes by rounding.
    "lanes": Case(
        _reduction(
            "2, 1024",
            "SR",
            "o[v0]",
            "o[v0] + A[v0, v1]",
            'A: T.Buffer((2, 1024), "float32"), o: T.Buffer((2,), "float32")',
        ),
        "fast",
        1e-5,
    ),
    "rows": Case(_reduction("64, 96", "SR", "o[v0]", "o[v0] + A[v0, v1]", ROWS)),
    "rows_any": Case(
        _each(
            "a: T.handle, b: T.handle",
            """n = T.int64()
m = T.int64()
A = T.match_buffer(a, (n, m), "float32")
o = T.match_buffer(b, (n,), "float32")
for i0, i1 in T.grid(n, m):
    with T.block("b"):
        v0, v1 = T.axis.remap("SR", [i0, i1])
        with T.init():
            o[v0] = T.float32(0)
        o[v0] = o[v0] + A[v0, v1]""",
        )
    ),
    "columns_any": Case(
        _each(
            "a: T.handle, b: T.handle",
            """n = T.int64()
m = T.int64()
A = T.match_buffer(a, (n, m), "float32")
o = T.match_buffer(b, (m,), "float32")
for i0, i1 in T.grid(m, n):
    with T.block("b"):
        v0, v1 = T.axis.remap("SR", [i0, i1])
        with T.init():
            o[v0] = T.float32(0)
        o[v0] = o[v0] + T.if_then_else(v0 < v1, A[v1, v0], T.float32(2))""",
        )
    ),
    "transpose": Case(_each(FLAT, "for i, j in T.grid(64, 64):\n    o[i * 64 + j] = A[j, i]")),
    "copy": Case(
        _each(
            'A: T.Buffer((64, 96), "float32"), o: T.Buffer((64, 64), "float32")',
            "for i, j in T.grid(64, 64):\n    o[i, j] = A[i, j + 8]",
        )
    ),
    "collapse": Case(
        _each(
            'A: T.Buffer((64, 64), "float32"), o: T.Buffer((64, 64), "float32")',
            "for i, j in T.grid(64, 64):\n    o[i, j] = A[i, j] * T.float32(3)",
        )
    ),
    "accumulate": Case(
        _each(
            'A: T.Buffer((512,), "float32"), o: T.Buffer((4,), "float32")',
            "for i in range(512):\n    o[1] = o[1] + A[i]",
        )
    ),
    "gather": Case(_each(PLACED, "for j in range(64):\n    o[j] = A[1, I[j]]")),
    "guard": Case(_each(PLACED, "for j in range(64):\n    o[I[j]] = o[I[j]] + A[1, I[j]]")),
}


def arrays_of(text: str) -> list[Array]:
    """Make the arrays of a case; what has any size has the same."""
    random = np.random.default_rng(7)
    made: list[Array] = []
    function = parsed(text)
    sizes = dict.fromkeys(shape_symbols(function), 37)
    for item in function.buffers:
        shape = [int(evaluate(dim, sizes)) for dim in item.buffer.shape]
        is_index = item.buffer.dtype == "int32"
        array = random.integers(0, 64, shape) if is_index else random.standard_normal(shape)
        made.append(array.astype(item.buffer.dtype))
    return made


def run(engine: Engine, function: PrimFunc, arrays: Sequence[Array]) -> None:
    """Run a kernel, as one of any sizes if it has such."""
    kernel = engine.kernel(function, "f")
    if shape_symbols(function):
        kernel.specialised_variants = 0
    kernel(*arrays)


def engine_for(case: Case, *names: str) -> Engine:
    """Make an engine without the transformations `names`."""
    return Engine(options=options_for(case, *names))


def options_for(case: Case, *names: str) -> KernelOptions:
    return KernelOptions(mode=case.mode, threads=2, vector_bits=case.vector_bits, without=without(names))


def test_every_transformation_is_switched_off_here() -> None:
    assert {*CASES} == {*SUMMARIES} == {"fuse", *(item.name for item in TRANSFORMS)}


@pytest.mark.parametrize("name", CASES)
def test_without_it_the_values_are_the_same(name: str) -> None:
    case = CASES[name]
    function = parsed(case.text)
    whole, part = engine_for(case), engine_for(case, name)
    assert applied(function, whole).get(name, "").startswith("applied")
    assert name not in applied(function, part)
    mine, theirs = arrays_of(case.text), arrays_of(case.text)
    run(whole, function, mine)
    run(part, function, theirs)
    for ours, others in zip(mine, theirs, strict=True):
        if case.tolerance:
            np.testing.assert_allclose(ours, others, rtol=case.tolerance, atol=case.tolerance)
        else:
            assert agree(ours, others)


def test_without_all_of_them_no_loop_is_taken() -> None:
    assert not any(applied(parsed(case.text), engine_for(case, *SUMMARIES)) for case in CASES.values())


def test_a_name_that_none_has_is_refused() -> None:
    with pytest.raises(CompileError) as caught:
        without(("tile", "tiles"))
    assert caught.value.diagnostics[0].code == "JT025"
    assert "columns" in caught.value.diagnostics[0].hint


@pytest.mark.parametrize("name", ["tile", "lanes", "fuse"])
def test_what_it_costs_to_go_without_is_measured_in_one_run(name: str) -> None:
    case = CASES[name]
    arrays = arrays_of(case.text)
    kept = [array.copy() for array in arrays]
    costs = step_costs(engine_for(case), Timed(parsed(case.text), "f", None, {}), arrays)
    assert all(agree(array, before) for array, before in zip(arrays, kept, strict=True))
    (found,) = (item for item in costs.steps if item.name == name)
    assert costs.seconds > 0
    assert found.seconds > 0
    assert costs.rounds >= 3
    assert (found.difference > 0) == (case.tolerance > 0)
    assert found.has_same_bits == (case.tolerance == 0)
    assert name not in {
        item.name
        for item in step_costs(engine_for(case), Timed(parsed(case.text), "f", None, {}), arrays, (name,)).steps
    }


def test_a_measurement_stops_when_it_is_cancelled() -> None:
    timed = Timed(parsed(CASES["tile"].text), "f", None, {})
    with pytest.raises(RunError) as caught:
        step_costs(engine_for(CASES["tile"]), timed, arrays_of(CASES["tile"].text), is_cancelled=lambda: True)
    assert caught.value.diagnostics[0].code == "JT014"
