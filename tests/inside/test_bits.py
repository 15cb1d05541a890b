"""What a run that is stopped and gone on with computes are the bits of the compiled kernel, for every sample."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import relax_core as rc
from relax_core.diagnostics import DiagnosedError, RunError, has_errors
from relax_core.engine.programs.prim_entry import arguments, can_run
from relax_core.frontend.parse import parse_text
from relax_core.inside.stepper import Kernel, Stepper
from relax_core.ir.equality import structural_hash
from relax_core.ir.module import IRModule
from relax_core.ir.tir import PrimFunc
from relax_core.jit.engine import Engine

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
FOLDERS = ("tir", "relax", "prim", "relay", "lessons")
FEWEST = 100


@cache
def engine() -> Engine:
    return Engine(fuel=1 << 30)


def modules_of(path: Path) -> Iterator[IRModule]:
    """Yield the modules of a sample, as they are and as they are built."""
    parsed = parse_text(path.read_text(encoding="utf-8"), path.name)
    for module in () if has_errors(parsed.diagnostics) else parsed.modules:
        yield module
        if module.relax_functions:
            try:
                yield rc.build(module).module
            except DiagnosedError:
                continue


@cache
def kernels() -> tuple[tuple[str, PrimFunc, IRModule], ...]:
    """Return the prim funcs of all samples that take buffers and scalars, each once."""
    found: dict[str | int, tuple[str, PrimFunc, IRModule]] = {}
    for folder in FOLDERS:
        for path in sorted((SAMPLES / folder).rglob("*.py")):
            for module in modules_of(path):
                for var, function in module.prim_funcs:
                    if can_run(function):
                        found.setdefault(structural_hash(function), (f"{path.stem}-{var.name}", function, module))
    return tuple(found.values())


def made_up(function: PrimFunc) -> tuple[Any, ...]:
    """Return arguments, with arrays for what is of rank 0."""
    buffers = [function.buffer_of(param) is not None for param in function.params]
    found = arguments(function, None, 1, {}, is_signed=True)
    return tuple(np.array(value) if is_buffer else value for value, is_buffer in zip(found, buffers, strict=True))


def copies(args: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(item.copy() if hasattr(item, "copy") else item for item in args)


def stopped_often(stepper: Stepper, seed: int) -> None:
    """Go to statements in and out of order, and then to the end."""
    assert stepper.total is not None
    random, total = Random(seed), stepper.total
    for clock in (0, 1, 2, 3, *sorted(random.randrange(total + 1) for _ in range(6))):
        stepper.move_to(min(clock, total))
        assert stepper.clock == min(clock, total)
    stepper.move_to(random.randrange(total + 1))
    stepper.move_to(total)


def test_there_are_enough_kernels() -> None:
    assert len(kernels()) >= FEWEST


def test_a_stopped_run_of_every_sample_has_the_bits_of_the_kernel() -> None:
    differing: list[str] = []
    for number, (name, function, module) in enumerate(kernels()):
        args = made_up(function)
        functions = {var.name: item for var, item in module.prim_funcs}
        plain = copies(args)
        code = _code_of(lambda: engine().kernel(function, name, None, functions)(*plain))  # noqa: B023
        if code == "JT001":
            # Threads that pass values to each other are no loop: tests/inside/test_threads.py steps through those.
            with pytest.raises(RunError, match="pass values to each other"):
                Stepper(Kernel(function, name, engine(), functions=functions), args)
            continue
        stepper = Stepper(Kernel(function, name, engine(), functions=functions), args)
        stepper.explore()
        stopped_often(stepper, number)
        pairs = zip(stepper.memory.args, plain, strict=True)
        is_same = code or all(np.asarray(a).tobytes() == np.asarray(b).tobytes() for a, b in pairs)
        found = "" if stepper.stopped is None else stepper.stopped.diagnostics[0].code
        if not is_same or found != code:
            differing.append(name)
    assert not differing


@pytest.mark.parametrize("path", sorted((SAMPLES / "errors").glob("jt_*.py")), ids=lambda path: path.stem)
def test_a_broken_sample_stops_as_its_kernel_does(path: Path) -> None:
    module = parse_text(path.read_text(encoding="utf-8"), path.name).modules[0]
    name, function = next((var.name, item) for var, item in module.prim_funcs)
    brief = Engine(fuel=100_000)
    args = [np.ones(4, function.buffers[0].buffer.dtype) for _ in function.params]
    codes = [_code_of(lambda: brief.kernel(function, name)(*[item.copy() for item in args]))]
    codes.append(_code_of(lambda: _to_the_end(Stepper(Kernel(function, name, brief), args))))
    refused = {"JT001": "TI001", "JT024": "JT017"}
    assert codes[1] in (codes[0], refused.get(codes[0], ""))


def _to_the_end(stepper: Stepper) -> None:
    stepper.run_to_end()
    if stepper.stopped is not None:
        raise stepper.stopped


def _code_of(run: Any) -> str:
    try:
        run()
    except DiagnosedError as error:
        return error.diagnostics[0].code
    return ""
