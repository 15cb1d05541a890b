"""All that the explorer can do, in one process: requests to replies, cached by content."""

import threading
import traceback
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeVar, assert_never, cast

import numpy as np

from relax_core.diagnostics import CompileError, DiagnosedError, Diagnostic
from relax_core.engine import (
    breakpoints,
    catalog_view,
    devices_view,
    kernel_view,
    origins_view,
    partition_view,
    source_view,
    text_views,
)
from relax_core.engine.compilation import Report
from relax_core.engine.debug import changed, service
from relax_core.engine.debug.requests import (
    BisectOf,
    CompareArchiveOf,
    CompareValuesOf,
    DumpOf,
    MemoryOf,
    ProfileOf,
    StopsOf,
)
from relax_core.engine.open_program import OpenProgram
from relax_core.engine.protocol import (
    AnyRequest,
    Asm,
    Ast,
    Check,
    CompareGraph,
    DevicesOf,
    Execute,
    Executed,
    Failure,
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
    Request,
    Restored,
    RestoreLayout,
    RunOf,
    SampleList,
    Samples,
    Script,
    SheetOf,
    StageOf,
    StageView,
    Stop,
    StopOf,
    TensorPage,
    Try,
    ValueOf,
    WhyDeviceOf,
)
from relax_core.engine.replies import Listing
from relax_core.engine.samples import list_samples
from relax_core.engine.spelling import fitting_name
from relax_core.frontend.layout import restore_layout
from relax_core.frontend.parse import Parsed, parse_text
from relax_core.jit.compilation.compiler import Compiler, local_compiler
from relax_core.jit.engine import Engine
from relax_core.jit.options import KernelOptions
from relax_core.present.catalog import catalog
from relax_core.present.catalog_models import Tried
from relax_core.present.code import header_length, plain_code, printed_code, printed_text
from relax_core.present.diff import Page, diff_pages
from relax_core.present.graph import compare_graph, function_graph, module_graph
from relax_core.present.inspector import inspect
from relax_core.present.kernel_models import KernelView
from relax_core.present.kernels import remarks_text
from relax_core.present.models import Code, Graph, Inspector, Pipeline
from relax_core.present.node_id import NodeId
from relax_core.present.origin_models import Origins
from relax_core.present.pipeline import present_detail, present_pipeline
from relax_core.present.problems import problems_of
from relax_core.present.run import present_run
from relax_core.present.run_models import PointList, Run
from relax_core.present.tensor import matrix, tensor_model
from relax_core.printer.ast import print_ast
from relax_core.vm.limits import Limits as RunLimits

R = TypeVar("R")
K = TypeVar("K")
V = TypeVar("V")

RUN_LIMITS = RunLimits(seconds=10.0, memory_bytes=1 << 30, retained_bytes=256 << 20)
_STUDIES, _TEXTS = 6, 12
_PAGE_SIDE = 64


class Session:
    """Answers requests one after the other; `cancel` may be called from another thread."""

    def __init__(self, limits: RunLimits = RUN_LIMITS, compiler: Compiler | None = None) -> None:
        self._limits = limits
        self._is_cancelled = threading.Event()
        self._compiler = compiler or local_compiler()
        self._engines: dict[KernelOptions, Engine] = {}
        self._parsed: OrderedDict[tuple[str, str], Parsed] = OrderedDict()
        self._open_programs: OrderedDict[Program, OpenProgram] = OrderedDict()
        self._running: OpenProgram | None = None

    def cancel(self) -> None:
        """Stop the request that runs, soon."""
        self._is_cancelled.set()
        opened = self._running
        machine = opened.runs.machine if opened is not None else None
        if machine is not None:
            machine.cancel()
        for engine in tuple(self._engines.values()):
            engine.cancel()

    def reset_cancel(self) -> None:
        """Forget a cancellation that came too late."""
        self._is_cancelled.clear()

    def request(self, message: Request[R], progress: Report = lambda _: None) -> R | Failure:
        """Answer `message`; what the program does wrong is a `Failure`, never an exception."""
        return cast("R | Failure", self.answer(cast("AnyRequest", message), progress))

    def answer(self, message: AnyRequest, progress: Report = lambda _: None) -> object:
        """Answer any message.

        Raises:
            MemoryError: the process has no memory left; the caller decides what becomes of it.
        """
        try:
            return self._answer(message, progress)
        except DiagnosedError as error:
            return self._failure(error)
        except RecursionError:
            words = "The program is nested more deeply than can be followed."
            return Failure("limit", "Nested too deeply", words)
        except MemoryError:
            raise
        except Exception as error:  # the request boundary: our mistake must not end the session
            words = f"{type(error).__name__}: {error}"
            return Failure("internal", "Mistake in RelaxScope", words, rendered=traceback.format_exc(limit=-12))

    def _engine_of(self, opened: OpenProgram) -> Engine:
        program = opened.source.program
        options = KernelOptions(mode=program.mode, finds_uninitialised=program.finds_uninitialised)
        if options not in self._engines:
            stop = self._is_cancelled.is_set
            self._engines[options] = Engine(is_cancelled=stop, options=options, compiler=self._compiler)
        return self._engines[options]

    def _failure(self, error: DiagnosedError) -> Failure:
        if self._is_cancelled.is_set():
            return Failure("cancelled", "Cancelled", "Stopped as asked.")
        first = error.diagnostics[0]
        rendered = "\n".join(item.render() for item in error.diagnostics)
        return Failure("diagnosed", "Not run", first.message, problems_of(error.diagnostics), rendered)

    def _answer(self, message: AnyRequest, report: Report) -> object:
        match message:
            case Operators():
                return catalog()
            case SheetOf():
                return catalog_view.sheet(message)
            case Try(program=program):
                return self._try(self._open_program(program), report)
            case RestoreLayout(text=text):
                restored = restore_layout(text)
                return Restored(restored.text, restored.changes)
            case Samples():
                return SampleList(list_samples())
            case Open(program=program):
                return source_view.source_view(self._open_program(program))
            case GraphOf(program=program):
                return self._graph(message, self._open_program(program), report)
            case PipelineOf(program=program):
                return self._pipeline(self._open_program(program), report)
            case StageOf(program=program, stage=stage):
                return self._stage(self._open_program(program), stage, report)
            case CompareGraph(program=program):
                return self._compare(message, self._open_program(program), report)
            case Inspect(program=program):
                return self._inspect(message, self._open_program(program), report)
            case RunOf(program=program):
                return self._run(message, self._open_program(program), report)
            case StopOf(program=program) | HitsOf(program=program):
                return self._points(message, self._open_program(program), report)
            case ValueOf(program=program):
                return self._value(message, self._open_program(program), report)
            case Asm(program=program):
                return self._asm(message, self._open_program(program), report)
            case KernelOf(program=program) | OriginsOf(program=program):
                return self._kernel(message, self._open_program(program), report)
            case Ast(program=program, stage=stage):
                return self._tree(self._open_program(program), stage, report)
            case Script(program=program):
                return text_views.script(message, self._open_program(program), report, self._is_cancelled.is_set)
            case Check(program=program, prims=prims):
                return text_views.found(self._open_program(program), prims)
            case Opt(program=program):
                opened = self._open_program(program)
                return text_views.stages(opened, opened.compilation.stages(report, self._is_cancelled.is_set))
            case Execute(program=program):
                return self._execute(message, self._open_program(program), report)
            case PartitionOf():
                opened = self._open_program(partition_view.partitioning(message))
                return partition_view.partition_view(message, opened, report, self._is_cancelled.is_set)
            case RegionReportOf():
                opened = self._open_program(partition_view.partitioning(message))
                return partition_view.report_of(message, opened, report, self._is_cancelled.is_set)
            case DevicesOf(program=program):
                return devices_view.devices_view(message, self._open_program(program))
            case WhyDeviceOf(program=program):
                return devices_view.why_device(message, self._open_program(program))
            case BisectOf() | CompareValuesOf() | CompareArchiveOf() | DumpOf() | StopsOf() | ProfileOf() | MemoryOf():
                return service.answer(message, self._open_program(message.program), self._means(report))
            case _:
                assert_never(message)

    def _open_program(self, program: Program) -> OpenProgram:
        """Return the opened of `program` as it runs without changes, kept while it is among the latest ones."""
        program = changed.unchanged(program)
        key = (program.text, fitting_name(program.text, program.name))
        parsed = _remembered(self._parsed, key, _TEXTS, lambda: parse_text(*key))
        self._running = _remembered(self._open_programs, program, _STUDIES, lambda: OpenProgram(program, parsed))
        return self._running

    def _means(self, report: Report) -> service.RequestContext:
        return service.RequestContext(
            report, self._is_cancelled.is_set, self._limits, self._engine_of, self._open_program
        )

    def _reach(self, opened: OpenProgram, stage: int, report: Report) -> None:
        """Run as much of the pipeline as is needed to have `stage`."""
        opened.source.require_sound()
        if stage > 0:
            stages = opened.compilation.stages(report, self._is_cancelled.is_set)
            if stage > len(stages):
                opened.compilation.complete(report, self._is_cancelled.is_set)

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
        stages = opened.compilation.stages(report, self._is_cancelled.is_set)
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
        return inspect(node, opened.scene(id_.stage))

    def _follow(self, opened: OpenProgram, report: Report) -> None:
        """Run the pipeline to the end if it does, so that the life of a node is known."""
        try:
            opened.compilation.executable(report, self._is_cancelled.is_set)
        except DiagnosedError:
            # The life then ends where the pipeline does; the Passes page says why.
            return

    def _run(self, message: RunOf, opened: OpenProgram, report: Report) -> Run:
        trace = changed.trace_of(opened, message.program.changes, self._means(report))
        return present_run(changed.recording(opened, trace, message.program.changes), message.event)

    def _points(self, message: StopOf | HitsOf, opened: OpenProgram, report: Report) -> Stop | PointList:
        trace = changed.trace_of(opened, message.program.changes, self._means(report))
        match message:
            case StopOf():
                return Stop(breakpoints.stop_of(trace, message))
            case HitsOf():
                return breakpoints.point_list(trace, message, self._is_cancelled.is_set)

    def _value(self, message: ValueOf, opened: OpenProgram, report: Report) -> TensorPage:
        trace = changed.trace_of(opened, message.program.changes, self._means(report))
        frames = trace.frames_at(message.time)
        if not 0 <= message.depth < len(frames):
            raise CompileError((Diagnostic("EN005", f"there is no frame {message.depth} at time {message.time}"),))
        registers = trace.registers_at(message.time, frames[message.depth].frame)
        value = registers[message.register] if 0 <= message.register < len(registers) else None
        if not isinstance(value, np.ndarray):
            raise CompileError((Diagnostic("EN005", f"register %{message.register} holds no tensor then"),))
        return _page(cast("np.ndarray[Any, Any]", value), message)

    def _kernel(self, message: KernelOf | OriginsOf, opened: OpenProgram, report: Report) -> KernelView | Origins:
        context = opened, report, self._is_cancelled.is_set, self._engine_of(opened)
        match message:
            case OriginsOf():
                return opened.remembered(message, lambda: origins_view.origins_view(message, *context))
            case KernelOf():
                return kernel_view.kernel_view(message, *context)

    def _asm(self, message: Asm, opened: OpenProgram, report: Report) -> Listing:
        executable = opened.compilation.executable(report, self._is_cancelled.is_set)
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
            stop, engine = self._is_cancelled.is_set, self._engine_of(opened)
            view = kernel_view.kernel_view(KernelOf(message.program, name), opened, report, stop, engine)
            return Listing(plain_code(remarks_text(view), f"{name}, remarks"), kernels)
        if message.form == "llvm":
            return Listing(plain_code(kernel.optimized_ir(), f"{name}, LLVM IR", "llvm"), kernels)
        return Listing(plain_code(kernel.assembly(), f"{name}, assembly", "asm"), kernels)

    def _try(self, opened: OpenProgram, report: Report) -> Tried:
        stop = self._is_cancelled.is_set
        engine = self._engine_of(opened)
        return catalog_view.tried(opened, opened.runs.run(report, stop, self._limits, engine, records=False))

    def _execute(self, message: Execute, opened: OpenProgram, report: Report) -> Executed:
        stop = self._is_cancelled.is_set
        if message.program.changes:
            return text_views.executed(changed.trace_of(opened, message.program.changes, self._means(report)))
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


def _remembered(memo: OrderedDict[K, V], key: K, capacity: int, make: Callable[[], V]) -> V:
    """Return the value of `key`, made if it is missing; the least recently used ones are dropped."""
    if key in memo:
        memo.move_to_end(key)
        return memo[key]
    value = make()
    memo[key] = value
    while len(memo) > capacity:
        memo.popitem(last=False)
    return value
