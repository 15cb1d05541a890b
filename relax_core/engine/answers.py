"""Who answers which request: a row for each class of request that looks at more of a program than its text.

A request is a class of `protocol.py`; its answer is a function of the request and of what the session gives for it.
"""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeAlias, TypeVar

from relax_core.engine.debug import service
from relax_core.engine.debug.request_context import RequestContext
from relax_core.engine.debug.requests import (
    AnyDebugRequest,
    AppearancesOf,
    BisectOf,
    BisectRecordedOf,
    ChromeTraceOf,
    CompareArchiveOf,
    CompareValuesOf,
    CrashOf,
    DumpOf,
    FrameOf,
    HeatOf,
    HistoriesOf,
    InputsOf,
    InsideOf,
    InsideReportOf,
    LifeOf,
    LineHeatOf,
    MemoryOf,
    OwnPassOf,
    PartsOf,
    ProfileOf,
    RecordedCallsOf,
    RecordedCostsOf,
    RecordedFaultsOf,
    RecordedFilesOf,
    RecordedFunctionsOf,
    RecordedGraphOf,
    RecordedInputsOf,
    RecordedOf,
    RecordedOriginsOf,
    RecordedStructureOf,
    RecordedTextsOf,
    ReproducerOf,
    RunFormsOf,
    SimulateOf,
    StackOf,
    StepOf,
    StopsOf,
    StopTimesOf,
    TensorFileOf,
    TensorOf,
    TextsOf,
    TraceOf,
)
from relax_core.engine.documents import meanings
from relax_core.engine.forks import calls as fork_calls
from relax_core.engine.input_files import reading as input_reading
from relax_core.engine.inside import stepping
from relax_core.engine.moments import answers as moments
from relax_core.engine.moments import heat, tensors, timing
from relax_core.engine.pipelines import recorded
from relax_core.engine.pipelines.calls import comparison
from relax_core.engine.pipelines.crashes import explain
from relax_core.engine.pipelines.reproducers import reproducing
from relax_core.engine.properties import measures
from relax_core.engine.protocol import (
    Asm,
    Ast,
    CallAtOf,
    CompareGraph,
    CostsOf,
    DevicesOf,
    EffectsOf,
    Execute,
    ExplanationsOf,
    FilmOf,
    FoundInStages,
    GraphOf,
    HitsOf,
    Inspect,
    KernelOf,
    LogsOf,
    MeasuredOf,
    Open,
    OpenedRunOf,
    Operators,
    Opt,
    OriginsOf,
    PartitionOf,
    PatternsOf,
    PipelineFormOf,
    PipelineOf,
    PlansOf,
    PropertiesOf,
    RegionReportOf,
    ReportOf,
    Request,
    RewriteOf,
    RunOf,
    SavedRunOf,
    ScheduleOf,
    Script,
    SheetOf,
    StageOf,
    StageStructureOf,
    StepCostsOf,
    StopOf,
    StructureOf,
    Try,
    ValueOf,
    VocabularyOf,
    WhyDeviceOf,
)
from relax_core.engine.reporting import measuring, reports
from relax_core.engine.scheduling import scheduling
from relax_core.engine.screens import (
    catalog_view,
    cost_views,
    devices_view,
    effect_views,
    kernel_view,
    listings,
    origins_view,
    partition_view,
    pipeline_form,
    rewrite_views,
    run_views,
    source_view,
    stage_views,
)
from relax_core.engine.screens.recorded import costs as recorded_costs
from relax_core.engine.screens.recorded import graphs as recorded_graphs
from relax_core.engine.screens.recorded import programs as recorded_programs
from relax_core.engine.screens.recorded import stages as recorded_stages
from relax_core.engine.simulation import simulating

Q = TypeVar("Q", bound=Request[Any])
Answerer: TypeAlias = Callable[[Any, RequestContext], object]
Preparation: TypeAlias = Callable[[Any, RequestContext], Iterator[None]]


def _row(
    request: type[Q], answer: Callable[[], Callable[[Q, RequestContext], object]]
) -> tuple[type[Request[Any]], Answerer]:
    """Return a row of the table; `answer` names the function, whose module is loaded when it is first asked for."""
    return request, lambda message, context: answer()(message, context)


def _opened(message: Open, context: RequestContext) -> object:
    return source_view.source_view(context.opened_by(message.program))


def _devices(message: DevicesOf, context: RequestContext) -> object:
    return devices_view.devices_view(message, context.opened_by(message.program))


def _why_device(message: WhyDeviceOf, context: RequestContext) -> object:
    return devices_view.why_device(message, context.opened_by(message.program))


def _about(message: Operators | SheetOf | VocabularyOf, _context: RequestContext) -> object:
    return catalog_view.about(message)


def _explanations(message: ExplanationsOf, _context: RequestContext) -> object:
    return meanings.explanations(*message.names, language=message.language)


def _partition(message: PartitionOf, context: RequestContext) -> object:
    given = context.opened_by(message.program)
    opened = context.opened_by(partition_view.partitioning(message, given))
    return partition_view.partition_view(message, opened, context.report, context.is_cancelled)


def _regions(message: RegionReportOf, context: RequestContext) -> object:
    given = context.opened_by(message.program)
    opened = context.opened_by(partition_view.partitioning(message, given))
    return partition_view.report_of(message, opened, context.report, context.is_cancelled)


def _patterns(message: PatternsOf, context: RequestContext) -> object:
    return partition_view.pattern_list(context.opened_by(message.program))


def _kernel(message: KernelOf, context: RequestContext) -> object:
    opened = context.opened_by(message.program)
    return kernel_view.kernel_view(message, opened, context.report, context.is_cancelled, context.engine_of(opened))


def _origins(message: OriginsOf, context: RequestContext) -> object:
    opened = context.opened_by(message.program)
    given = opened, context.report, context.is_cancelled, context.engine_of(opened)
    return opened.remembered(message, lambda: origins_view.origins_view(message, *given))


def _about_faults(message: AnyDebugRequest, context: RequestContext) -> object:
    return service.answer(message, context.opened_by(message.program), context)


def _bisected(message: BisectRecordedOf, context: RequestContext) -> object:
    return _about_faults(recorded.bisect_of(message, context.recorded_by(message.parcel)), context)


def _forms_run(message: RunFormsOf, context: RequestContext) -> object:
    asked = recorded.bisect_of(message.recorded, context.recorded_by(message.recorded.parcel))
    part = slice(message.first, message.until or None)
    return service.run_forms(asked, part, context.opened_by(asked.program), context)


def _reproduced(message: ReproducerOf, context: RequestContext) -> object:
    return reproducing.reproduced(message, lambda asked: _about_faults(asked, context), context)


ANSWERS: Final[Mapping[type[Request[Any]], Answerer]] = MappingProxyType(
    dict(
        (
            _row(Open, lambda: _opened),
            _row(GraphOf, lambda: stage_views.graph),
            _row(PipelineOf, lambda: stage_views.pipeline),
            _row(StageOf, lambda: stage_views.stage),
            _row(RewriteOf, lambda: rewrite_views.rewrite),
            _row(EffectsOf, lambda: effect_views.effects),
            _row(CostsOf, lambda: cost_views.costs),
            _row(LineHeatOf, lambda: heat.line_heat),
            _row(MeasuredOf, lambda: measuring.measured),
            _row(CompareGraph, lambda: stage_views.compare),
            _row(FilmOf, lambda: stage_views.film_of),
            _row(StageStructureOf, lambda: stage_views.structure_of_stage),
            _row(StructureOf, lambda: stage_views.structure_of_two),
            _row(FoundInStages, lambda: stage_views.found),
            _row(Inspect, lambda: stage_views.inspected),
            _row(Ast, lambda: stage_views.tree),
            _row(Script, lambda: stage_views.script),
            _row(Opt, lambda: stage_views.printed_stages),
            _row(RunOf, lambda: run_views.recorded),
            _row(StopOf, lambda: run_views.stop),
            _row(CallAtOf, lambda: fork_calls.call_at),
            _row(HitsOf, lambda: run_views.hits),
            _row(LogsOf, lambda: moments.logs),
            _row(StackOf, lambda: moments.stack),
            _row(FrameOf, lambda: moments.frame),
            _row(PartsOf, lambda: moments.parts),
            _row(TextsOf, lambda: moments.texts),
            _row(ChromeTraceOf, lambda: timing.chrome),
            _row(HistoriesOf, lambda: moments.histories_of),
            _row(TensorOf, lambda: tensors.view),
            _row(TensorFileOf, lambda: tensors.file),
            _row(InputsOf, lambda: input_reading.read_inputs),
            _row(StepOf, lambda: moments.step),
            _row(StopTimesOf, lambda: moments.stop_times),
            _row(ValueOf, lambda: run_views.value),
            _row(SavedRunOf, lambda: run_views.saved),
            _row(OpenedRunOf, lambda: run_views.opened_run),
            _row(Execute, lambda: run_views.executed),
            _row(Try, lambda: run_views.tried),
            _row(PropertiesOf, lambda: measures.evaluated),
            _row(Asm, lambda: listings.listing),
            _row(KernelOf, lambda: _kernel),
            _row(StepCostsOf, lambda: kernel_view.step_table),
            _row(ScheduleOf, lambda: scheduling.schedule_table),
            _row(PlansOf, lambda: kernel_view.plans),
            _row(OriginsOf, lambda: _origins),
            _row(PartitionOf, lambda: _partition),
            _row(RegionReportOf, lambda: _regions),
            _row(PatternsOf, lambda: _patterns),
            _row(DevicesOf, lambda: _devices),
            _row(WhyDeviceOf, lambda: _why_device),
            _row(Operators, lambda: _about),
            _row(ExplanationsOf, lambda: _explanations),
            _row(SheetOf, lambda: _about),
            _row(PipelineFormOf, lambda: pipeline_form.pipeline_form),
            _row(VocabularyOf, lambda: _about),
            _row(BisectRecordedOf, lambda: _bisected),
            _row(RunFormsOf, lambda: _forms_run),
            _row(ReproducerOf, lambda: _reproduced),
            _row(SimulateOf, lambda: simulating.simulated),
            _row(InsideOf, lambda: stepping.inside),
            _row(HeatOf, lambda: stepping.heat),
            _row(ReportOf, lambda: reports.report_file),
            _row(InsideReportOf, lambda: stepping.report),
            _row(RecordedOf, lambda: recorded_stages.recorded),
            _row(RecordedCostsOf, lambda: recorded_costs.costs),
            _row(RecordedFaultsOf, lambda: recorded_stages.faults),
            _row(RecordedTextsOf, lambda: recorded_stages.texts),
            _row(RecordedFilesOf, lambda: recorded_stages.files),
            _row(RecordedFunctionsOf, lambda: recorded_graphs.functions),
            _row(RecordedGraphOf, lambda: recorded_graphs.graph),
            _row(RecordedStructureOf, lambda: recorded_graphs.structure_of),
            _row(RecordedInputsOf, lambda: recorded_programs.inputs),
            _row(OwnPassOf, lambda: recorded_programs.own_pass),
            _row(TraceOf, lambda: recorded_stages.trace_file),
            _row(AppearancesOf, lambda: recorded_stages.appearances),
            _row(LifeOf, lambda: recorded_stages.life),
            _row(RecordedOriginsOf, lambda: recorded_stages.line_origins),
            _row(RecordedCallsOf, lambda: comparison.compared_calls),
            _row(CrashOf, lambda: explain.explained),
            *(
                _row(request, lambda: _about_faults)
                for request in (
                    BisectOf,
                    CompareValuesOf,
                    CompareArchiveOf,
                    ProfileOf,
                    DumpOf,
                    MemoryOf,
                    StopsOf,
                )
            ),
        )
    )
)

PREPARATIONS: Final[Mapping[type[Request[Any]], Preparation]] = MappingProxyType(
    {CompareGraph: lambda message, context: stage_views.next_stage(message, context)}
)
"""What is made in parts behind an answer, while nothing else is asked for."""
