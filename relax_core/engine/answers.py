"""Who answers which request: a row for each class of request that looks at more of a program than its text.

A request is a class of `protocol.py`; its answer is a function of the request and of what the session gives for it.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeAlias, TypeVar

from relax_core.engine.debug import service
from relax_core.engine.debug.replies import FormRuns
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
    InsideOf,
    InsideReportOf,
    LifeOf,
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
from relax_core.engine.inside import stepping
from relax_core.engine.moments import answers as moments
from relax_core.engine.moments import tensors, timing
from relax_core.engine.pipelines import recorded
from relax_core.engine.pipelines.calls import comparison
from relax_core.engine.pipelines.crashes import explain
from relax_core.engine.pipelines.reproducers import reproducing
from relax_core.engine.properties import measures
from relax_core.engine.protocol import (
    Asm,
    Ast,
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
from relax_core.present.kernel_models import KernelView
from relax_core.present.nodes.origin_models import Origins
from relax_core.present.regions.partition_models import PartitionView, PatternList
from relax_core.present.regions.region_models import RegionReport

Q = TypeVar("Q", bound=Request[Any])
Answerer: TypeAlias = Callable[[Any, RequestContext], object]


def _row(request: type[Q], answer: Callable[[Q, RequestContext], object]) -> tuple[type[Request[Any]], Answerer]:
    """Return a row of the table; the types of request and function are checked to fit."""
    return request, answer


def _partition(message: PartitionOf, context: RequestContext) -> PartitionView:
    given = context.opened_by(message.program)
    opened = context.opened_by(partition_view.partitioning(message, given))
    return partition_view.partition_view(message, opened, context.report, context.is_cancelled)


def _regions(message: RegionReportOf, context: RequestContext) -> RegionReport:
    given = context.opened_by(message.program)
    opened = context.opened_by(partition_view.partitioning(message, given))
    return partition_view.report_of(message, opened, context.report, context.is_cancelled)


def _patterns(message: PatternsOf, context: RequestContext) -> PatternList:
    return partition_view.pattern_list(context.opened_by(message.program))


def _kernel(message: KernelOf, context: RequestContext) -> KernelView:
    opened = context.opened_by(message.program)
    return kernel_view.kernel_view(message, opened, context.report, context.is_cancelled, context.engine_of(opened))


def _origins(message: OriginsOf, context: RequestContext) -> Origins:
    opened = context.opened_by(message.program)
    given = opened, context.report, context.is_cancelled, context.engine_of(opened)
    return opened.remembered(message, lambda: origins_view.origins_view(message, *given))


def _about_faults(message: AnyDebugRequest, context: RequestContext) -> object:
    return service.answer(message, context.opened_by(message.program), context)


def _bisected(message: BisectRecordedOf, context: RequestContext) -> object:
    return _about_faults(recorded.bisect_of(message, context.recorded_by(message.parcel)), context)


def _forms_run(message: RunFormsOf, context: RequestContext) -> FormRuns:
    asked = recorded.bisect_of(message.recorded, context.recorded_by(message.recorded.parcel))
    part = slice(message.first, message.until or None)
    return service.run_forms(asked, part, context.opened_by(asked.program), context)


def _reproduced(message: ReproducerOf, context: RequestContext) -> object:
    return reproducing.reproduced(message, lambda asked: _about_faults(asked, context), context)


ANSWERS: Final[Mapping[type[Request[Any]], Answerer]] = MappingProxyType(
    dict(
        (
            _row(Open, lambda message, context: source_view.source_view(context.opened_by(message.program))),
            _row(GraphOf, stage_views.graph),
            _row(PipelineOf, stage_views.pipeline),
            _row(StageOf, stage_views.stage),
            _row(RewriteOf, rewrite_views.rewrite),
            _row(EffectsOf, effect_views.effects),
            _row(CostsOf, cost_views.costs),
            _row(MeasuredOf, measuring.measured),
            _row(CompareGraph, stage_views.compare),
            _row(FilmOf, stage_views.film_of),
            _row(StageStructureOf, stage_views.structure_of_stage),
            _row(StructureOf, stage_views.structure_of_two),
            _row(FoundInStages, stage_views.found),
            _row(Inspect, stage_views.inspected),
            _row(Ast, stage_views.tree),
            _row(Script, stage_views.script),
            _row(Opt, stage_views.printed_stages),
            _row(RunOf, run_views.recorded),
            _row(StopOf, run_views.stop),
            _row(HitsOf, run_views.hits),
            _row(StackOf, moments.stack),
            _row(FrameOf, moments.frame),
            _row(PartsOf, moments.parts),
            _row(TextsOf, moments.texts),
            _row(ChromeTraceOf, timing.chrome),
            _row(HistoriesOf, moments.histories_of),
            _row(TensorOf, tensors.view),
            _row(TensorFileOf, tensors.file),
            _row(StepOf, moments.step),
            _row(StopTimesOf, moments.stop_times),
            _row(ValueOf, run_views.value),
            _row(SavedRunOf, run_views.saved),
            _row(OpenedRunOf, run_views.opened_run),
            _row(Execute, run_views.executed),
            _row(Try, run_views.tried),
            _row(PropertiesOf, measures.evaluated),
            _row(Asm, listings.listing),
            _row(KernelOf, _kernel),
            _row(StepCostsOf, kernel_view.step_table),
            _row(PlansOf, kernel_view.plans),
            _row(OriginsOf, _origins),
            _row(PartitionOf, _partition),
            _row(RegionReportOf, _regions),
            _row(PatternsOf, _patterns),
            _row(
                DevicesOf,
                lambda message, context: devices_view.devices_view(message, context.opened_by(message.program)),
            ),
            _row(
                WhyDeviceOf,
                lambda message, context: devices_view.why_device(message, context.opened_by(message.program)),
            ),
            _row(Operators, lambda message, _: catalog_view.about(message)),
            _row(ExplanationsOf, lambda message, _: meanings.explanations(*message.names, language=message.language)),
            _row(SheetOf, lambda message, _: catalog_view.about(message)),
            _row(PipelineFormOf, pipeline_form.pipeline_form),
            _row(VocabularyOf, lambda message, _: catalog_view.about(message)),
            _row(BisectRecordedOf, _bisected),
            _row(RunFormsOf, _forms_run),
            _row(ReproducerOf, _reproduced),
            _row(SimulateOf, simulating.simulated),
            _row(InsideOf, stepping.inside),
            _row(HeatOf, stepping.heat),
            _row(InsideReportOf, stepping.report),
            _row(ReportOf, reports.report_file),
            _row(RecordedOf, recorded_stages.recorded),
            _row(RecordedCostsOf, recorded_costs.costs),
            _row(RecordedFaultsOf, recorded_stages.faults),
            _row(RecordedTextsOf, recorded_stages.texts),
            _row(RecordedFilesOf, recorded_stages.files),
            _row(RecordedFunctionsOf, recorded_graphs.functions),
            _row(RecordedGraphOf, recorded_graphs.graph),
            _row(RecordedStructureOf, recorded_graphs.structure_of),
            _row(RecordedInputsOf, recorded_programs.inputs),
            _row(OwnPassOf, recorded_programs.own_pass),
            _row(TraceOf, recorded_stages.trace_file),
            _row(AppearancesOf, recorded_stages.appearances),
            _row(LifeOf, recorded_stages.life),
            _row(RecordedOriginsOf, recorded_stages.line_origins),
            _row(RecordedCallsOf, comparison.compared_calls),
            _row(CrashOf, explain.explained),
            *(
                _row(request, _about_faults)
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
