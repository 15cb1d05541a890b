"""Pipelines that ran elsewhere: opening, bisecting and packing them."""

from pathlib import Path
from typing import Any

import numpy as np

from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.engine.debug.replies import Bisection
from relax_core.engine.debug.requests import BisectRecordedOf, Closeness
from relax_core.engine.debug.tolerance import DEFAULT_TOLERANCE, Tolerance
from relax_core.engine.inputs import members_of, write_members
from relax_core.engine.pipelines.pipeline import Pipeline, RecordedStage
from relax_core.engine.pipelines.recorded import with_recorded_inputs
from relax_core.engine.pipelines.sources import PathLike, open_pipeline
from relax_core.engine.pipelines.trace import writer
from relax_core.engine.programs.program import Program
from relax_core.engine.protocol import Failure
from relax_core.engine.session import Session

__all__ = ["Pipeline", "RecordedStage", "bisect_pipeline", "open_pipeline", "write_trace"]


def bisect_pipeline(
    pipeline: Pipeline, *args: Any, entry: str = "", tolerance: Tolerance = DEFAULT_TOLERANCE
) -> Bisection:
    """Run every form of the program that a recorded pipeline holds on the same arguments; the first is the reference.

    Without arguments these are the inputs of the recorded run, or made up. See `bisect_passes` for the result.

    Raises:
        CompileError: nothing could be run at all.
    """
    members = {key: value for at, arg in enumerate(args) for key, value in members_of(f"in_{at}", arg).items()}
    inputs = write_members({key: np.asarray(value) for key, value in members.items()}) if args else None
    options = with_recorded_inputs(pipeline, Program("", entry=entry, inputs=inputs))
    relative, absolute = (-1.0 if item is None else item for item in (tolerance.relative, tolerance.absolute))
    trace = writer.write_trace(writer.without_runs(pipeline))
    found = Session().request(BisectRecordedOf(trace, options, Closeness(relative, absolute)))
    if isinstance(found, Failure):
        said = (Diagnostic(item.code, item.message, hint=item.hint) for item in found.problems)
        raise CompileError((*said,) or (Diagnostic("PL001", f"{found.title}. {found.message}"),))
    return found


def write_trace(pipeline: Pipeline, path: PathLike) -> None:
    """Write a pipeline as one file, which `open_pipeline` opens; by custom its name ends in `.rxt`."""
    Path(path).write_bytes(writer.write_trace(pipeline))
