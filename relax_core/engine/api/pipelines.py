"""Pipelines that ran elsewhere: opening, bisecting and packing them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec
import numpy as np

from relax_core.engine.debug.replies import Bisection, CallsCompared
from relax_core.engine.debug.requests import (
    BisectRecordedOf,
    CrashOf,
    Parcel,
    RecordedCallsOf,
)
from relax_core.engine.debug.tolerance import DEFAULT_TOLERANCE, Closeness, Tolerance
from relax_core.engine.halving.reply import DEFAULT_BUDGET, Budget
from relax_core.engine.inputs import members_of, write_members
from relax_core.engine.pipelines.calls import results
from relax_core.engine.pipelines.pipeline import Pipeline, RecordedStage
from relax_core.engine.pipelines.recorded import with_recorded_inputs
from relax_core.engine.pipelines.sources import PathLike, open_pipeline
from relax_core.engine.pipelines.trace import writer
from relax_core.engine.programs import program
from relax_core.engine.programs.program import Program
from relax_core.engine.session import Session
from relax_core.vm.external.packed import HostFunction
from relax_core.vm.external.stand_ins import OWN_FUNCTIONS, How, RecordedResults

__all__ = [
    "Pipeline",
    "RecordedStage",
    "bisect_pipeline",
    "compare_calls",
    "open_pipeline",
    "recorded_results",
    "write_trace",
]

StandInFor: TypeAlias = "Literal['zeros', 'recorded'] | HostFunction"


def bisect_pipeline(
    pipeline: Pipeline,
    *args: Any,
    entry: str = "",
    tolerance: Tolerance = DEFAULT_TOLERANCE,
    stand_ins: Mapping[str, StandInFor] | None = None,
    budget: Budget = DEFAULT_BUDGET,
) -> Bisection:
    """Run every form of the program that a recorded pipeline holds on the same arguments; the first is the reference.

    Without arguments these are the inputs of the recorded run, or made up. See `bisect_passes` for the result.
    `stand_ins` answer for packed functions: "zeros", a Python function, or "recorded" results of the recorded run.

    Raises:
        CompileError: nothing could be run at all.
    """
    members = {key: value for at, arg in enumerate(args) for key, value in members_of(f"in_{at}", arg).items()}
    inputs = write_members({key: np.asarray(value) for key, value in members.items()}) if args else None
    functions = {name: item for name, item in (stand_ins or {}).items() if not isinstance(item, str)}
    options = with_recorded_inputs(pipeline, _program(pipeline, entry, inputs, stand_ins or {}))
    relative, absolute = (-1.0 if item is None else item for item in (tolerance.relative, tolerance.absolute))
    trace = writer.write_trace(writer.without_runs(pipeline))
    with OWN_FUNCTIONS.given(functions):
        found = Session().asked(BisectRecordedOf(trace, options, Closeness(relative, absolute), budget=budget))
    return msgspec.structs.replace(found, stopped=_crash_words(pipeline))


def _crash_words(pipeline: Pipeline) -> str:
    """Return why the compiler that was recorded stopped, "" if it did not."""
    if not pipeline.has_crash:
        return ""
    return Session().asked(CrashOf(Parcel(pipeline.name, writer.write_trace(pipeline)))).words


def compare_calls(
    pipeline: Pipeline, run: int = 0, *, from_inputs: bool = False, tolerance: Tolerance = DEFAULT_TOLERANCE
) -> CallsCompared:
    """Compare each call of a recorded run of TVM with what this machine and NumPy compute.

    The machine makes each call on its recorded arguments, so that an early difference does not spoil those behind it;
    `from_inputs` it runs the last form of the program from the recorded inputs instead. `found.first_different` is the
    index of the first of `found.rows` that differs, -1 if none does; `found.to_text()` prints all.

    Raises:
        CompileError: PL014, there is no such run.
    """
    if not pipeline.runs:
        results.refuse_run(pipeline, "")
    relative, absolute = (-1.0 if item is None else item for item in (tolerance.relative, tolerance.absolute))
    parcel = Parcel(pipeline.name, writer.write_trace(pipeline))
    message = RecordedCallsOf(parcel, run, not from_inputs, Closeness(relative, absolute))
    return Session().asked(message)


def _program(pipeline: Pipeline, entry: str, inputs: bytes | None, stand_ins: Mapping[str, StandInFor]) -> Program:
    kinds: dict[str, How] = {}
    for name, item in stand_ins.items():
        kinds[name] = "python" if callable(item) else item
    names = [name for name, how in kinds.items() if how == "recorded"]
    recorded = results.recorded_results(pipeline, names, entry) if names else b""
    asked = tuple(program.StandInFor(name, how) for name, how in kinds.items())
    return Program("", entry=entry, inputs=inputs, stand_ins=asked, recorded=recorded)


def recorded_results(pipeline: Pipeline, *names: str, entry: str = "") -> dict[str, RecordedResults]:
    """Return what packed functions gave in the recorded run of a pipeline, to stand in for them.

    Raises:
        CompileError: PL014: there is no run, or it does not call one of them.
    """
    return results.results_in(results.recorded_results(pipeline, names, entry))


def write_trace(pipeline: Pipeline, path: PathLike) -> None:
    """Write a pipeline as one file, which `open_pipeline` opens; by custom its name ends in `.rxt`."""
    Path(path).write_bytes(writer.write_trace(pipeline))
