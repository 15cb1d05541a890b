"""The plan of a transformation is a loop nest of TIR that reads back, and computes what the transformed kernel does."""

from collections.abc import Sequence
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from relax_core import build, parse
from relax_core.engine.programs.prim_entry import arguments
from relax_core.ir.expr import GlobalVar
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.tir import PrimFunc
from relax_core.jit.lowering.known.symbols import shape_symbols
from relax_core.jit.options import KernelOptions
from relax_core.jit.plans import PlanStage, plan_stages
from relax_core.jit.transforms.registry import SUMMARIES
from relax_core.printer.tvmscript import print_module
from tests.jit.programs import parsed
from tests.jit.reference import Reference
from tests.jit.transforms.nests import NAIVE, Array, agree
from tests.jit.transforms.test_switches import CASES, arrays_of, engine_for, options_for

SAMPLES = Path(__file__).resolve().parents[3] / "samples"
PATHS = sorted((*(SAMPLES / "tir").glob("*.py"), *(SAMPLES / "relax").glob("*.py")))
# What they do is told in words alone: docs/decisions/8_plans_as_loop_nests.md.
UNTOLD = frozenset(("lanes", "gather", "guard"))


def _stages(name: str) -> tuple[PlanStage, ...]:
    case = CASES[name]
    return plan_stages(parsed(case.text), {}, lambda _: None, options=options_for(case))


def _read_back(function: PrimFunc) -> PrimFunc:
    text = print_module(IRModule((Definition(GlobalVar("f"), function),))).text
    (again,) = (item for _, item in parse(text).prim_funcs)
    return again


def test_every_transformation_tells_its_plan_or_is_known_not_to() -> None:
    told = {name for name in CASES if any(item.transform == name and item.after is not None for item in _stages(name))}
    assert told == {*SUMMARIES} - UNTOLD


@pytest.mark.parametrize("name", sorted({*CASES} - UNTOLD))
def test_the_plan_reads_back_and_is_what_the_kernel_computes(name: str) -> None:
    case = CASES[name]
    function = parsed(case.text)
    expected = arrays_of(case.text)
    engine_for(case).kernel(function, "f")(*expected)
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
