"""What a session gives to answer requests about runs with."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from relax_core.engine.debug.bisect import Bisecting, Candidate
from relax_core.engine.debug.requests import (
    BisectOf,
    Parcel,
)
from relax_core.engine.pipelines import pipeline
from relax_core.engine.programs.open_program import OpenProgram
from relax_core.engine.programs.program import Program
from relax_core.engine.protocol import (
    Report,
)
from relax_core.jit.engine import Engine
from relax_core.vm.limits import Limits

Begun: TypeAlias = tuple[Bisecting, Iterator[Candidate]]
"""A bisection under way, and the forms that it has not judged."""


@dataclass(frozen=True, slots=True, eq=False)
class RequestContext:
    """How to report progress, whether to stop, what a run may use, and what is kept of programs and recordings.

    `brief_engine_of` gives an engine for kernels that run a few times and no more. `begun` has the bisection of which
    the first forms were judged, until the rest is asked for.
    """

    report: Report
    is_cancelled: Callable[[], bool]
    limits: Limits
    engine_of: Callable[[OpenProgram], Engine]
    brief_engine_of: Callable[[OpenProgram], Engine]
    opened_by: Callable[[Program], OpenProgram]
    recorded_by: Callable[[Parcel], "pipeline.Pipeline"]
    begun: dict[BisectOf, Begun]
