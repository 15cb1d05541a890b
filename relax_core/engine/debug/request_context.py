"""What a session gives to answer requests about runs with."""

from collections.abc import Callable
from dataclasses import dataclass

from relax_core.engine.pipelines import pipeline
from relax_core.engine.programs.open_program import OpenProgram
from relax_core.engine.programs.program import Program
from relax_core.engine.protocol import Parcel, Report
from relax_core.jit.engine import Engine
from relax_core.vm.limits import Limits


@dataclass(frozen=True, slots=True, eq=False)
class RequestContext:
    """How to report progress, whether to stop, what a run may use, and what is kept of programs and recordings.

    `brief_engine_of` gives an engine for kernels that run a few times and no more.
    """

    report: Report
    is_cancelled: Callable[[], bool]
    limits: Limits
    engine_of: Callable[[OpenProgram], Engine]
    brief_engine_of: Callable[[OpenProgram], Engine]
    opened_by: Callable[[Program], OpenProgram]
    recorded_by: Callable[[Parcel], "pipeline.Pipeline"]
