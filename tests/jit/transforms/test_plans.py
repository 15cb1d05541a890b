"""The plan of a transformation is a loop nest of TIR that reads back, and computes what the transformed kernel does."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from relax_core import build, parse
from relax_core.engine.programs.prim_entry import arguments
from relax_core.ir.expr import GlobalVar
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.prim import PrimVar
from relax_core.ir.tir import PrimFunc
from relax_core.jit.lowering.known.symbols import shape_symbols
from relax_core.jit.lowering.lower import lower
from relax_core.jit.options import KernelOptions
from relax_core.jit.plans import PlanStage, plan_stages
from relax_core.jit.transforms.registry import SUMMARIES
from relax_core.printer.tvmscript import print_module
from tests.jit.programs import parsed, sizes_of
from tests.jit.reference import Reference
from tests.jit.transforms import test_gather, test_guard, test_guard_rows
from tests.jit.transforms.nests import NAIVE, Array, agree, filled, outcome
from tests.jit.transforms.test_contraction import SUMS
from tests.jit.transforms.test_contraction_conv import CONVOLUTIONS
from tests.jit.transforms.test_switches import CASES, arrays_of, engine_for, options_for, run

SAMPLES = Path(__file__).resolve().parents[3] / "samples"
PATHS = sorted((*(SAMPLES / "tir").glob("*.py"), *(SAMPLES / "relax").glob("*.py")))


def _stages(name: str) -> tuple[PlanStage, ...]:
    case = CASES[name]
    function = parsed(case.text)
    sizes: dict[PrimVar, int] = {}
    return plan_stages(function, None if shape_symbols(function) else sizes, lambda _: None, options=options_for(case))


def _read_back(function: PrimFunc) -> PrimFunc:
    text = print_module(IRModule((Definition(GlobalVar("f"), function),))).text
    (again,) = (item for _, item in parse(text).prim_funcs)
    return again


def test_every_transformation_tells_its_plan() -> None:
    told = {name for name in CASES if any(item.transform == name and item.after is not None for item in _stages(name))}
    assert told == {*SUMMARIES}


@pytest.mark.parametrize("name", sorted(CASES))
def test_the_plan_reads_back_and_is_what_the_kernel_computes(name: str) -> None:
    case = CASES[name]
    function = parsed(case.text)
    expected = arrays_of(case.text)
    run(engine_for(case), function, expected)
    for stage in _stages(name):
        if stage.after is None or (name == "parallel" != stage.transform):
            continue
        again = _read_back(stage.after)
        given = arrays_of(case.text)
        Reference(again, {item.buffer.name: array for item, array in zip(again.buffers, given, strict=True)})
        for ours, others in zip(given, expected, strict=True):
            if name == "parallel":
                # The interpreter takes NumPy's exponential function.
                np.testing.assert_allclose(ours, others, rtol=1e-6)
            else:
                assert agree(ours, others), stage.transform


@pytest.mark.parametrize("name", ["split", "split_any", "fuse"])
def test_what_is_rewritten_as_tir_is_compiled_to_the_same_code(name: str) -> None:
    options = options_for(CASES[name])

    def code_of(function: PrimFunc) -> list[str]:
        sizes: dict[PrimVar, int] | None = None if shape_symbols(function) else {}
        text = lower(function, sizes, lambda _: None, {}, options, are_distinct=True).text
        lines = (line.partition(";")[0].rstrip() for line in text.splitlines())
        return [line for line in lines if line]

    (stage,) = (item for item in _stages(name) if item.transform == name)
    assert stage.after is not None
    assert code_of(stage.after) == code_of(stage.before) == code_of(parsed(CASES[name].text))
    again = code_of(replace(_read_back(stage.after), attrs=stage.after.attrs))
    assert [line for line in again if "define" not in line] == [
        line for line in code_of(stage.after) if "define" not in line
    ]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
@pytest.mark.parametrize("size", [3, 37, 64])
def test_the_plans_of_samples_compute_the_same_bits(path: Path, size: int) -> None:
    for name, function, stages, args in _sample(path, size):
        for stage in stages:
            if stage.after is None:
                continue
            mine, theirs = (_copies(args) for _ in range(2))
            NAIVE.kernel(function, name)(*theirs)
            NAIVE.kernel(_read_back(stage.after), name)(*mine)
            for ours, others in zip(_arrays(mine), _arrays(theirs), strict=True):
                assert agree(ours, others), stage.transform


INDIRECT: Mapping[str, tuple[PrimFunc, Sequence[Array]]] = {
    **{
        f"guard: {name}": (
            test_guard.kernel_of(name, "int32"),
            test_guard.arrays_of(np.random.default_rng(0), (70, 17), "int32", ()),
        )
        for name in test_guard.BODIES
        if name not in test_guard.NOT_APPLIED
    },
    **{
        f"rows: {name}": (test_guard_rows.FUNCTIONS[name, "int64"], test_guard_rows.arrays_of(0, (37, 40), "int64", []))
        for name in test_guard_rows.TAKEN
    },
    **{
        f"gather: {name}, {nest}": (
            test_gather.function_of(name, nest, "float32", "int32"),
            test_gather.arrays_of(0, (5, 67), "float32", "int32"),
        )
        for name in sorted(test_gather.GATHERED)
        for nest in test_gather.NESTS
    },
}


@pytest.mark.parametrize("name", sorted(INDIRECT))
@pytest.mark.parametrize("is_wrong", [False, True])
def test_what_is_looked_at_ahead_stops_nothing_and_changes_nothing(name: str, is_wrong: bool) -> None:
    function, arrays = INDIRECT[name]
    given = [array.copy() for array in arrays]
    if is_wrong:
        given[1].reshape(-1)[-3] = 99
    sizes = _sizes(function, arrays)
    stages = [
        stage
        for known in (sizes, None)
        for stage in plan_stages(function, known, lambda _: None, options=KernelOptions(threads=1))
    ]
    told = [stage for stage in stages if stage.transform == name.partition(":")[0].replace("rows", "guard")]
    assert told
    for stage in told:
        assert stage.after is not None
        mine, theirs = ([array.copy() for array in given] for _ in range(2))
        stops = [
            outcome(NAIVE, item, values, is_generic=True)
            for item, values in ((_read_back(stage.after), mine), (function, theirs))
        ]
        assert bool(stops[0]) == bool(stops[1])
        for ours, others in zip(mine, theirs, strict=True):
            assert agree(ours, others), stage.reason


def _sizes(function: PrimFunc, arrays: Sequence[Array]) -> dict[PrimVar, int]:
    return {
        dim: size
        for item, array in zip(function.buffers, arrays, strict=True)
        for dim, size in zip(item.buffer.shape, array.shape, strict=True)
        if isinstance(dim, PrimVar)
    }


def _sample(path: Path, size: int) -> "list[tuple[str, PrimFunc, tuple[PlanStage, ...], Sequence[object]]]":
    """Return the kernels of a sample that have plans, with arguments for one size of all symbols."""
    found: list[tuple[str, PrimFunc, tuple[PlanStage, ...], Sequence[object]]] = []
    executable = build(parse(path.read_text(encoding="utf-8"), path.name))
    for name, function in executable.kernels.items():
        symbols = shape_symbols(function)
        options = KernelOptions(threads=1, vector_bits=256)
        stages = plan_stages(function, dict.fromkeys(symbols, size), lambda _: None, options=options)
        if any(stage.after is not None for stage in stages):
            sizes = {symbol.name: size for symbol in symbols}
            found.append((name, function, stages, arguments(function, None, 1, sizes, below=3)))
    return found


def _copies(args: Sequence[object]) -> list[object]:
    return [cast("Array", arg).copy() if isinstance(arg, np.ndarray) else arg for arg in args]


def _arrays(args: Sequence[object]) -> list[Array]:
    return [cast("Array", arg) for arg in args if isinstance(arg, np.ndarray)]


LETTERS: dict[str, int] = dict(zip("hwniogsdpq", (11, 9, 2, 4, 10, 2, 2, 1, 1, 1), strict=True))


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_padded_operands_are_told_as_copies(name: str) -> None:
    function = CONVOLUTIONS[name].function(LETTERS)
    random = np.random.default_rng(7)
    given = [filled(random, sizes_of(item.buffer), item.buffer.dtype) for item in function.buffers]
    stages = plan_stages(function, {}, lambda _: None, options=KernelOptions(threads=1, vector_bits=256))
    expected = [array.copy() for array in given]
    NAIVE.kernel(function, "f")(*expected)
    assert "tile" in {stage.transform for stage in stages}
    for stage in stages:
        assert stage.after is not None
        arrays = [array.copy() for array in given]
        NAIVE.kernel(_read_back(stage.after), "f")(*arrays)
        for ours, others in zip(arrays, expected, strict=True):
            assert agree(ours, others), stage.reason


@pytest.mark.parametrize("name", SUMS)
def test_joined_axes_are_told_as_they_are_in_the_text(name: str) -> None:
    nest = SUMS[name]
    sizes = (3, 17, 5, 33)[: len(nest.kinds)]
    function = nest.function(sizes)
    for stage in plan_stages(function, {}, lambda _: None, options=KernelOptions(threads=1, vector_bits=256)):
        assert stage.after is not None
        mine, theirs = (nest.arrays(sizes, 3) for _ in range(2))
        NAIVE.kernel(_read_back(stage.after), "f")(*mine)
        NAIVE.kernel(function, "f")(*theirs)
        for ours, others in zip(mine, theirs, strict=True):
            assert agree(ours, others), stage.reason
