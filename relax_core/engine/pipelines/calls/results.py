"""The recorded results of packed functions, as stand-ins for these: taken from a trace, and sent with a program."""

from collections.abc import Iterable
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final, NoReturn

import numpy as np

from relax_core.engine.pipelines.entries import Room, fail, shown, zip_entries
from relax_core.engine.pipelines.pipeline import Pipeline, Recording
from relax_core.engine.pipelines.recorded_run import Omitted, RecordedCall, RecordedRun, RecordedShape, RecordedValue
from relax_core.engine.pipelines.trace.reader import read_trace
from relax_core.engine.pipelines.trace.writer import write_trace
from relax_core.vm.external.stand_ins import NotRecorded, RecordedResults
from relax_core.vm.objects.values import ShapeValue

_NAME: Final = "the recorded results"
_NO_ARRAYS: Final = MappingProxyType[str, Any]({})


def run_of(pipeline: Pipeline, entry: str = "") -> RecordedRun:
    """Return the first recorded run, of the function `entry` if it is given.

    Raises:
        CompileError: PL014, there is none.
    """
    run = next((item for item in pipeline.runs if entry in ("", item.entry)), None)
    if run is None:
        refuse_run(pipeline, f" of `{shown(entry)}`" if entry else "")
    return run


def refuse_run(pipeline: Pipeline, which: str) -> NoReturn:
    """Say that a recording has no run of TVM, or not that one.

    Raises:
        CompileError: PL014, always.
    """
    if pipeline.machine_runs:
        entries = ", ".join(f"`{shown(item)}`" for item in pipeline.machine_runs)
        message = f"{shown(pipeline.name)} holds a run of {entries} on this machine, and none of TVM to compare with"
        fail("PL014", message, "run FILE shows it, and open FILE steps through it")
    hint = "record one: record_tvm.run(vm, 'main', args) while record_tvm.record(...) is open"
    fail("PL014", f"{shown(pipeline.name)} holds no recorded run of TVM{which}", hint)


def recorded_results(pipeline: Pipeline, names: Iterable[str], entry: str = "") -> bytes:
    """Return what the functions `names` gave in a recorded run, as `results_in` reads it.

    Raises:
        CompileError: PL014: there is no run, or it does not call one of them.
    """
    return results_of(run_of(pipeline, entry), names)


def results_of(run: RecordedRun, names: Iterable[str]) -> bytes:
    """Return what the functions `names` gave in a run, as `results_in` reads it.

    Raises:
        CompileError: PL014: it does not call one of them.
    """
    wanted = frozenset(names)
    calls = tuple(replace(call, args=()) for call in run.calls if call.name in wanted)
    missing = sorted(wanted - {call.name for call in calls})
    if missing:
        known = ", ".join(dict.fromkeys(call.name for call in run.calls))
        fail("PL014", f"the recorded run does not call `{shown(missing[0])}`", f"it calls {known}" if known else "")
    kept = replace(run, inputs=(), result=None, calls=calls)
    return write_trace(Pipeline(Recording(_NAME, "trace", (), _NO_ARRAYS, runs=(kept,))))


def results_in(content: bytes) -> dict[str, RecordedResults]:
    """Read what `recorded_results` wrote.

    Raises:
        CompileError: it is damaged.
    """
    recording = read_trace(_NAME, zip_entries(_NAME, content), "", Room())
    found: dict[str, list[Any]] = {}
    for call in (call for run in recording.runs for call in run.calls):
        found.setdefault(call.name, []).append(_result(call))
    return {name: RecordedResults(tuple(results)) for name, results in found.items()}


def _result(call: RecordedCall) -> Any:
    if not call.is_finished:
        return NotRecorded("the run ended in it")
    omitted = first_omitted(call.result)
    return NotRecorded(omitted.what) if omitted is not None else machine_value(call.result)


def first_omitted(value: RecordedValue) -> Omitted | None:
    """Return the first part of a value that was not kept."""
    match value:
        case Omitted():
            return value
        case tuple():
            return next((found for item in value if (found := first_omitted(item)) is not None), None)
        case _:
            return None


def machine_value(value: RecordedValue) -> Any:
    """Return a recorded value as a value of the machine; every part of it was kept."""
    match value:
        case RecordedShape(sizes=sizes):
            return ShapeValue(sizes)
        case tuple():
            return tuple(map(machine_value, value))
        case np.ndarray():
            return np.array(value)
        case _:
            return value
