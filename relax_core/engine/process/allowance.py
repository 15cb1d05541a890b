"""How long each kind of request may take, from sending it to its reply.

The client bounds the wall clock, the kernel the processor time. Both grow by the factor of the request's kind. Waiting
for another request of the session counts as well.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from relax_core.engine.debug.requests import (
    AppearancesOf,
    BisectOf,
    BisectRecordedOf,
    CompareArchiveOf,
    CompareValuesOf,
    CrashOf,
    LifeOf,
    OwnPassOf,
    RecordedCallsOf,
    RecordedCostsOf,
    RecordedFaultsOf,
    RecordedFilesOf,
    RecordedOf,
    RecordedOriginsOf,
    RecordedTextsOf,
    ReproducerOf,
    RunFormsOf,
    SimulateOf,
)
from relax_core.engine.limits import Limits
from relax_core.engine.protocol import (
    Asm,
    Check,
    CostsOf,
    DevicesOf,
    EffectsOf,
    Execute,
    ExplanationsOf,
    FoundInStages,
    HitsOf,
    LogsOf,
    MeasuredOf,
    Open,
    Operators,
    Opt,
    PipelineFormOf,
    PipelineOf,
    ReportOf,
    RestoreLayout,
    RewriteOf,
    RunOf,
    Samples,
    SavedRunOf,
    ScheduleOf,
    SheetOf,
    StageOf,
    StepCostsOf,
    StopOf,
    VocabularyOf,
    WhyDeviceOf,
)

_TEXT, _PROGRAM, _COMPARISON = 1, 2, 5
# Most requests may need everything from parsing to a run, and get twice the time of those that only look at the text. A
# comparison runs the program once per pass.
_FACTORS: Mapping[type, int] = MappingProxyType(
    {
        Open: _TEXT,
        Check: _TEXT,
        RestoreLayout: _TEXT,
        DevicesOf: _TEXT,
        WhyDeviceOf: _TEXT,
        Samples: _TEXT,
        Operators: _TEXT,
        PipelineFormOf: _TEXT,
        VocabularyOf: _TEXT,
        SheetOf: _TEXT,
        ExplanationsOf: _TEXT,
        BisectOf: _COMPARISON,
        BisectRecordedOf: _COMPARISON,
        RunFormsOf: _COMPARISON,
        ReproducerOf: _COMPARISON,
        OwnPassOf: _COMPARISON,
        RecordedCostsOf: _COMPARISON,
        RecordedFaultsOf: _COMPARISON,
        RecordedCallsOf: _COMPARISON,
        CrashOf: _COMPARISON,
        CompareValuesOf: _COMPARISON,
        CompareArchiveOf: _COMPARISON,
        ReportOf: _COMPARISON,
        SimulateOf: _COMPARISON,
        StepCostsOf: _COMPARISON,
        ScheduleOf: _COMPARISON,
    }
)


@dataclass(frozen=True, slots=True)
class Allowance:
    """The time that one request may take."""

    wall_seconds: float
    cpu_seconds: int


def allowance(message: object, limits: Limits) -> Allowance:
    """Return what a request may take under `limits`: 60, 120 or 300 s on the clock by default."""
    factor = _FACTORS.get(type(message), _PROGRAM)
    return Allowance(limits.wall_seconds * factor, limits.cpu_of(limits.cpu_seconds * factor))


def doing(message: object) -> str:
    """Name what a worker does for a request, in words that can follow `while`."""
    match message:
        case (
            RunOf(program=program)
            | StopOf(program=program)
            | HitsOf(program=program)
            | LogsOf(program=program)
            | Execute(program=program)
            | SavedRunOf(program=program)
            | SimulateOf(program=program)
        ):
            return f"running `{program.entry or 'main'}`"
        case PipelineOf() | StageOf() | FoundInStages() | RewriteOf() | EffectsOf() | CostsOf() | MeasuredOf() | Opt():
            return "running the passes"
        case Asm():
            return "compiling"
        case StepCostsOf() | ScheduleOf():
            return "timing a kernel"
        case (
            Open()
            | Check()
            | PipelineFormOf()
            | RecordedOf()
            | RecordedCostsOf()
            | RecordedFaultsOf()
            | RecordedTextsOf()
            | RecordedFilesOf()
            | AppearancesOf()
        ):
            return "reading the text"
        case LifeOf() | RecordedOriginsOf():
            return "matching the stages"
        case (
            BisectOf()
            | BisectRecordedOf()
            | RunFormsOf()
            | ReproducerOf()
            | CompareValuesOf()
            | CompareArchiveOf()
            | RecordedCallsOf()
            | CrashOf()
            | OwnPassOf()
        ):
            return "comparing"
        case ReportOf():
            return "writing the report"
        case _:
            return "preparing the view"
