"""What a session needs beyond the texts of programs: their passes, bytecode, kernels and runs."""

from collections.abc import Callable
from typing import Any, TypeAlias, assert_never, cast

import numpy as np

from relax_core.diagnostics import CompileError, DiagnosedError, Diagnostic
from relax_core.engine import breakpoints
from relax_core.engine.debug import changed, service
from relax_core.engine.debug.requests import AnyDebugRequest, BisectRecordedOf
from relax_core.engine.pipelines import recorded
from relax_core.engine.programs.open_program import OpenProgram
from relax_core.engine.protocol import (
    Asm,
    Ast,
    CompareGraph,
    DevicesOf,
    Execute,
    Executed,
    GraphOf,
    HitsOf,
    Inspect,
    KernelOf,
    Open,
    Operators,
    Opt,
    OriginsOf,
    PartitionOf,
    PipelineOf,
    Program,
    RegionReportOf,
    Report,
    RunOf,
    Script,
    SheetOf,
    StageOf,
    StageView,
    Stop,
    StopOf,
    TensorPage,
    Try,
    ValueOf,
    VocabularyOf,
    WhyDeviceOf,
)
from relax_core.engine.recent import Recent
from relax_core.engine.replies import Listing
from relax_core.engine.screens import (
    catalog_view,
    devices_view,
    kernel_view,
    origins_view,
    partition_view,
    source_view,
    text_views,
)
from relax_core.frontend.parse import Parsed
from relax_core.jit.compilation.compiler import local_compiler, served_compiler
from relax_core.jit.engine import Engine
from relax_core.jit.options import KernelOptions
from relax_core.present.catalog_of.catalog_models import Tried
from relax_core.present.code import header_length, plain_code, printed_code, printed_text
from relax_core.present.diff import Page, diff_pages
from relax_core.present.drawings.graph import compare_graph, function_graph, module_graph
from relax_core.present.kernels import remarks_text
from relax_core.present.models import Code, Graph, Inspector, Pipeline
from relax_core.present.nodes.inspector import inspect
from relax_core.present.nodes.node_id import NodeId
from relax_core.present.pipeline import present_detail, present_pipeline
from relax_core.present.running.run import present_run
from relax_core.present.running.run_models import PointList, Run
from relax_core.present.running.tensor import matrix, tensor_model
from relax_core.printer.ast import print_ast
from relax_core.vm.limits import Limits as RunLimits

_OPEN_PROGRAM_COUNT = 6
_PAGE_SIDE = 64

OfDevices: TypeAlias = DevicesOf | WhyDeviceOf
OfRegions: TypeAlias = PartitionOf | RegionReportOf
OfStages: TypeAlias = Open | GraphOf | PipelineOf | StageOf | CompareGraph | Inspect | Ast | Script | Opt
OfRuns: TypeAlias = RunOf | StopOf | HitsOf | ValueOf | Execute | Try
OfKernels: TypeAlias = Asm | KernelOf | OriginsOf
OfWords: TypeAlias = Operators | SheetOf | VocabularyOf
BeyondText: TypeAlias = (
    OfWords | OfDevices | OfRegions | OfStages | OfRuns | OfKernels | AnyDebugRequest | BisectRecordedOf
)


class Toolchain:
    """Answers the requests that look at more of a program than its text.

    `parsed` reads a program's text; with the number of a socket, the process at its other end writes compiled kernels.
    """

    def __init__(
        self,
        limits: RunLimits,
        is_cancelled: Callable[[], bool],
        parsed: Callable[[Program], Parsed],
        compile_descriptor: int | None,
    ) -> None:
        self._limits = limits
        self._is_cancelled = is_cancelled
        self._parsed = parsed
        self._compiler = local_compiler() if compile_descriptor is None else served_compiler(compile_descriptor)
        self._engines: dict[KernelOptions, Engine] = {}
        self._open_programs: Recent[Program, OpenProgram] = Recent(_OPEN_PROGRAM_COUNT)
        self._running: OpenProgram | None = None

    def cancel(self) -> None:
        """Stop the machine and the kernels that run."""
        opened = self._running
        machine = opened.runs.machine if opened is not None else None
        if machine is not None:
            machine.cancel()
        for engine in tuple(self._engines.values()):
            engine.cancel()

    def answer(self, message: BeyondText, report: Report) -> object:
        """Answer a request.

        Raises:
            DiagnosedError: the program cannot be read, compiled or run as far as the answer needs.
        """
        match message:
            case Operators() | SheetOf() | VocabularyOf():
                return catalog_view.about(message)
            case DevicesOf(program=program):
                return devices_view.devices_view(message, self._open_program(program))
            case WhyDeviceOf(program=program):
                return devices_view.why_device(message, self._open_program(program))
            case PartitionOf():
                opened = self._open_program(partition_view.partitioning(message))
                return partition_view.partition_view(message, opened, report, self._is_cancelled)
            case RegionReportOf():
                opened = self._open_program(partition_view.partitioning(message))
                return partition_view.report_of(message, opened, report, self._is_cancelled)
            case BisectRecordedOf():
                return self.answer(recorded.bisect_of(message), report)
            case Asm() | KernelOf() | OriginsOf():
                return self._of_kernels(message, self._open_program(message.program), report)
            case RunOf() | StopOf() | HitsOf() | ValueOf() | Execute() | Try():
                return self._of_runs(message, self._open_program(message.program), report)
            case Open() | GraphOf() | PipelineOf() | StageOf() | CompareGraph() | Inspect() | Ast() | Script() | Opt():
                return self._of_stages(message, self._open_program(message.program), report)
            case _:
                return service.answer(message, self._open_program(message.program), self._context(report))

    def _of_stages(self, message: OfStages, opened: OpenProgram, report: Report) -> object:
        match message:
            case Open():
                return source_view.source_view(opened)
            case GraphOf():
                return self._graph(message, opened, report)
            case PipelineOf():
                return self._pipeline(opened, report)
            case StageOf(stage=stage):
                return self._stage(opened, stage, report)
            case CompareGraph():
                return self._compare(message, opened, report)
            case Inspect():
                return self._inspect(message, opened, report)
            case Ast(stage=stage):
                return self._tree(opened, stage, report)
            case Script():
                return text_views.script(message, opened, report, self._is_cancelled)
            case Opt():
                return text_views.stages(opened, opened.compilation.stages(report, self._is_cancelled))
            case _:
                assert_never(message)

    def _of_runs(self, message: OfRuns, opened: OpenProgram, report: Report) -> object:
        match message:
            case RunOf():
                return self._run(message, opened, report)
            case StopOf() | HitsOf():
                return self._points(message, opened, report)
            case ValueOf():
                return self._value(message, opened, report)
            case Execute():
                return self._execute(message, opened, report)
            case Try():
                return self._try(opened, report)
            case _:
                assert_never(message)

    def _of_kernels(self, message: OfKernels, opened: OpenProgram, report: Report) -> object:
        context = opened, report, self._is_cancelled, self._engine_of(opened)
        match message:
            case Asm():
                return self._asm(message, opened, report)
            case OriginsOf():
                return opened.remembered(message, lambda: origins_view.origins_view(message, *context))
            case KernelOf():
                return kernel_view.kernel_view(message, *context)

    def _engine_of(self, opened: OpenProgram) -> Engine:
        program = opened.source.program
        options = KernelOptions(mode=program.mode, finds_uninitialised=program.finds_uninitialised)
        if options not in self._engines:
            stop, compiler = self._is_cancelled, self._compiler
            self._engines[options] = Engine(is_cancelled=stop, options=options, compiler=compiler)
        return self._engines[options]

    def _open_program(self, program: Program) -> OpenProgram:
        """Return `program` as it runs without changes, kept while it is among the latest ones."""
        program = changed.unchanged(program)
        parsed = self._parsed(program)
        self._running = self._open_programs.remembered(program, lambda: OpenProgram(program, parsed))
        return self._running

    def _context(self, report: Report) -> service.RequestContext:
        return service.RequestContext(report, self._is_cancelled, self._limits, self._engine_of, self._open_program)

    def _reach(self, opened: OpenProgram, stage: int, report: Report) -> None:
        """Run as much of the pipeline as is needed to have `stage`."""
        opened.source.require_sound(reads_data=stage > 0)
        if stage > 0:
            stages = opened.compilation.stages(report, self._is_cancelled)
            if stage > len(stages):
                opened.compilation.complete(report, self._is_cancelled)

    def _tree(self, opened: OpenProgram, stage: int, report: Report) -> Code:
        self._reach(opened, stage, report)
        title = f"Tree of {opened.source.program.name}"
        return printed_code(print_ast(opened.compilation.module_at(stage)), opened.compilation.index(stage), title)

    def _graph(self, message: GraphOf, opened: OpenProgram, report: Report) -> Graph:
        self._reach(opened, message.stage, report)
        facts = opened.facts(message.stage)
        if not message.function:
            return module_graph(facts, message.opened)
        return function_graph(message.function, facts, message.opened, shown=frozenset(message.shown))

    def _pipeline(self, opened: OpenProgram, report: Report) -> Pipeline:
        stages = opened.compilation.stages(report, self._is_cancelled)
        return present_pipeline(stages, lambda number: opened.compilation.printed(number).text, opened.source.pipeline)

    def _stage(self, opened: OpenProgram, stage: int, report: Report) -> StageView:
        self._reach(opened, stage, report)
        after = opened.compilation.printed(stage)
        previous = max(stage - 1, 0)
        before = opened.compilation.printed(previous)
        known = opened.compilation.known_stages
        names = ("Source", *(item.pass_name for item in known))
        log = known[stage - 1].log if stage else text_views.NO_LOG
        diff = diff_pages(
            Page(f"Before · {names[previous]}", before, opened.compilation.index(previous), header_length(before.text)),
            Page(f"After · {names[stage]}", after, opened.compilation.index(stage), header_length(after.text)),
            log,
        )
        code = printed_text(after, opened.compilation.index(stage), names[stage])
        if stage == 0:
            return StageView(text_views.SOURCE_DETAIL, diff, code)
        show = opened.shower(stage, previous)
        detail = present_detail(
            known[stage - 1],
            opened.compilation.index(previous),
            opened.compilation.index(stage),
            show,
            opened.compilation.line_of,
        )
        return StageView(detail, diff, code)

    def _compare(self, message: CompareGraph, opened: OpenProgram, report: Report) -> Graph:
        self._reach(opened, message.stage, report)
        previous = max(message.stage - 1, 0)
        log = opened.compilation.known_stages[message.stage - 1].log if message.stage else text_views.NO_LOG
        return compare_graph(opened.facts(previous), opened.facts(message.stage), log, message.functions)

    def _inspect(self, message: Inspect, opened: OpenProgram, report: Report) -> Inspector:
        id_ = NodeId.parse(message.node)
        if id_ is None:
            raise CompileError((Diagnostic("EN005", f"`{message.node}` is not the name of a node"),))
        self._reach(opened, id_.stage, report)
        node = opened.compilation.index(id_.stage).node_at(id_)
        if node is None:
            raise CompileError(
                (Diagnostic("EN005", f"there is no node {message.node}; the text or the passes changed"),)
            )
        if message.is_followed:
            self._follow(opened, report)
        return inspect(node, opened.inspector_context(id_.stage))

    def _follow(self, opened: OpenProgram, report: Report) -> None:
        """Run the pipeline to the end if it does, so that the life of a node is known."""
        try:
            opened.compilation.executable(report, self._is_cancelled)
        except DiagnosedError:
            # The life then ends where the pipeline does; the Passes page says why.
            return

    def _run(self, message: RunOf, opened: OpenProgram, report: Report) -> Run:
        trace = changed.trace_of(opened, message.program.changes, self._context(report))
        return present_run(changed.recording(opened, trace, message.program.changes), message.event)

    def _points(self, message: StopOf | HitsOf, opened: OpenProgram, report: Report) -> Stop | PointList:
        trace = changed.trace_of(opened, message.program.changes, self._context(report))
        match message:
            case StopOf():
                return Stop(breakpoints.stop_of(trace, message))
            case HitsOf():
                return breakpoints.point_list(trace, message, self._is_cancelled)

    def _value(self, message: ValueOf, opened: OpenProgram, report: Report) -> TensorPage:
        trace = changed.trace_of(opened, message.program.changes, self._context(report))
        frames = trace.frames_at(message.time)
        if not 0 <= message.depth < len(frames):
            raise CompileError((Diagnostic("EN005", f"there is no frame {message.depth} at time {message.time}"),))
        registers = trace.registers_at(message.time, frames[message.depth].frame)
        value = registers[message.register] if 0 <= message.register < len(registers) else None
        if not isinstance(value, np.ndarray):
            raise CompileError((Diagnostic("EN005", f"register %{message.register} holds no tensor then"),))
        return _page(cast("np.ndarray[Any, Any]", value), message)

    def _asm(self, message: Asm, opened: OpenProgram, report: Report) -> Listing:
        executable = opened.compilation.executable(report, self._is_cancelled)
        kernels = tuple(executable.kernels)
        if message.form == "bytecode":
            return Listing(plain_code(executable.as_text(), "bytecode"), kernels)
        name = message.kernel or (kernels[0] if kernels else "")
        if name not in executable.kernels:
            hint = f"kernels: {', '.join(kernels)}" if kernels else "this program has no kernels"
            raise CompileError((Diagnostic("EN005", f"there is no kernel `{name}`", hint=hint),))
        prim_func = executable.kernels[name]
        kernel = self._engine_of(opened).kernel(prim_func, name, executable.log, executable.kernels)
        if message.form == "remarks":
            stop, engine = self._is_cancelled, self._engine_of(opened)
            view = kernel_view.kernel_view(KernelOf(message.program, name), opened, report, stop, engine)
            return Listing(plain_code(remarks_text(view), f"{name}, remarks"), kernels)
        if message.form == "llvm":
            return Listing(plain_code(kernel.optimized_ir(), f"{name}, LLVM IR", "llvm"), kernels)
        return Listing(plain_code(kernel.assembly(), f"{name}, assembly", "asm"), kernels)

    def _try(self, opened: OpenProgram, report: Report) -> Tried:
        stop = self._is_cancelled
        engine = self._engine_of(opened)
        return catalog_view.tried(opened, opened.runs.run(report, stop, self._limits, engine, records=False))

    def _execute(self, message: Execute, opened: OpenProgram, report: Report) -> Executed:
        stop = self._is_cancelled
        if message.program.changes:
            return text_views.executed(changed.trace_of(opened, message.program.changes, self._context(report)))
        engine = self._engine_of(opened)
        trace = opened.runs.run(report, stop, self._limits, engine, records=False)
        return text_views.executed(trace)


def _page(array: "np.ndarray[Any, Any]", message: ValueOf) -> TensorPage:
    model = tensor_model(array, message.row, message.column, message.leading, _PAGE_SIDE)
    padded = (*message.leading, *(0,) * array.ndim)[: max(0, array.ndim - 2)]
    leading = tuple(min(max(at, 0), max(size - 1, 0)) for at, size in zip(padded, array.shape, strict=False))
    rows = slice(message.row, message.row + _PAGE_SIDE)
    columns = slice(message.column, message.column + _PAGE_SIDE)
    part = matrix(array, leading)[rows, columns]
    return TensorPage(model, array.shape, str(array.dtype), np.array2string(part, threshold=part.size + 1))
