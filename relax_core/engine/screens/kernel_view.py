"""The Kernels page: one prim func of the program in TIR, LLVM IR and machine code, and what its steps are worth."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import msgspec

from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.engine.debug.request_context import RequestContext
from relax_core.engine.programs.open_program import OpenProgram
from relax_core.engine.programs.prim_entry import arguments
from relax_core.engine.protocol import KernelOf, PlansOf, Progress, Report, ScheduleOf, StepCostsOf
from relax_core.ir.expr import GlobalVar
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.prim import PrimVar
from relax_core.ir.tir import PrimFunc
from relax_core.jit.engine import Engine
from relax_core.jit.kernel_views import kernel_views
from relax_core.jit.lowering.known.symbols import shape_symbols
from relax_core.jit.plans import PlanStage, plan_stages
from relax_core.jit.step_costs import step_costs
from relax_core.jit.transforms.registry import SUMMARIES, without
from relax_core.jit.ways import Timed
from relax_core.present.code import without_header
from relax_core.present.diffs.diff import diff_texts
from relax_core.present.kernel_models import KernelPlans, KernelView, PlannedStage, SourceLine, StepRow, StepTable
from relax_core.present.kernels import present_kernel
from relax_core.present.nodes.origins import Lines, tir_lines
from relax_core.printer.tvmscript import print_module
from relax_core.source import Source


def kernel_view(
    message: KernelOf, opened: OpenProgram, report: Report, is_cancelled: Callable[[], bool], engine: Engine
) -> KernelView:
    """Compile a kernel, the first one if none is named, and present its forms.

    Raises:
        CompileError: EN005 if there is no such kernel or symbol; also for errors of the program or of lowering.
    """
    executable = opened.compilation.executable(report, is_cancelled)
    name, function = kernel_of(message.kernel, executable.kernels)
    symbols, asked = _sizes_of(message, name, function)
    chosen: dict[PrimVar, int | None] = {symbol: asked.get(symbol.name) for symbol in symbols}
    known = {symbol: value for symbol, value in chosen.items() if value is not None}
    views = kernel_views(
        engine.target,
        function,
        known if len(known) == len(symbols) else None,
        lambda node: executable.log.locate(node),
        options=replace(engine.options, without=without(message.without)),
        functions=executable.kernels,
    )
    alone = IRModule((Definition(GlobalVar(name), function),), name=executable.module.name)
    printed = without_header(print_module(alone, spelling=opened.source.spelling))
    made = present_kernel(name, function, printed, views, sizes=chosen, processor=engine.target.processor)
    lines = Lines(executable.log, opened.source.parsed.source)
    served = lines.served(executable.module).get(name, frozenset())
    found = tir_lines(printed, function, served, lines)
    parts = (msgspec.structs.replace(part, origins=found.get(part.line, ())) for part in made.parts)
    origins = _source_lines(served, opened.source.parsed.source)
    return msgspec.structs.replace(made, kernels=tuple(executable.kernels), parts=tuple(parts), origins=origins)


def kernel_of(name: str, kernels: Mapping[str, PrimFunc]) -> tuple[str, PrimFunc]:
    """Return the kernel `name`, the first one if that is empty, with its name.

    Raises:
        CompileError: EN005 if there is none.
    """
    name = name or next(iter(kernels), "")
    if name not in kernels:
        hint = f"kernels: {', '.join(kernels)}" if kernels else "this program has no kernels"
        raise CompileError((Diagnostic("EN005", f"there is no kernel `{name}`", hint=hint),))
    return name, kernels[name]


def step_table(message: StepCostsOf, context: RequestContext) -> StepTable:
    """Time a kernel with all its transformations, and without each.

    Raises:
        DiagnosedError: there is no such kernel, symbol or transformation, it cannot be compiled, or stops on the
            arguments that are made up, or was cancelled.
    """
    timed, args = kernel_to_time(message, context)
    off = without(message.without)
    engine = context.engine_of(context.opened_by(message.program))
    found = step_costs(
        engine,
        timed,
        args,
        off,
        is_cancelled=context.is_cancelled,
        said=lambda words, number, count: context.report(Progress(f"Timing {words}", number, count)),
    )
    rows = tuple(
        StepRow(
            item.name,
            SUMMARIES[item.name],
            item.seconds,
            item.seconds / found.seconds,
            item.difference,
            item.has_same_bits,
        )
        for item in found.steps
    )
    return StepTable(timed.name, engine.target.processor, off, found.seconds, found.rounds, rows)


def kernel_to_time(message: StepCostsOf | ScheduleOf, context: RequestContext) -> tuple[Timed, tuple[Any, ...]]:
    """Return the kernel that is asked for, and arguments that are made up for it.

    Raises:
        DiagnosedError: there is no such kernel or symbol.
    """
    compilation = context.opened_by(message.program).compilation
    executable = compilation.executable(context.report, context.is_cancelled)
    name, function = kernel_of(message.kernel, executable.kernels)
    symbols, asked = _sizes_of(message, name, function)
    names = {symbol.name for symbol in symbols}
    sizes = {symbol: size for symbol, size in message.program.sizes if symbol in names} | asked
    timed = Timed(function, name, executable.log, executable.kernels)
    return timed, arguments(function, None, message.program.seed, sizes)


def plans(message: PlansOf, context: RequestContext) -> KernelPlans:
    """Lower a kernel, and print what its transformations plan.

    Raises:
        DiagnosedError: there is no such kernel, symbol or transformation, or it cannot be compiled.
    """
    opened = context.opened_by(message.program)
    executable = opened.compilation.executable(context.report, context.is_cancelled)
    name, function = kernel_of(message.kernel, executable.kernels)
    symbols, asked = _sizes_of(message, name, function)
    engine = context.engine_of(opened)
    stages = plan_stages(
        function,
        {symbol: asked[symbol.name] for symbol in symbols} if len(asked) == len(symbols) else None,
        lambda node: executable.log.locate(node),
        options=replace(engine.options, without=without(message.without)),
        functions=executable.kernels,
    )

    def text(shown: PrimFunc) -> str:
        alone = IRModule((Definition(GlobalVar(name), shown),), name=executable.module.name)
        return without_header(print_module(alone, spelling=opened.source.spelling)).text

    made = tuple(_planned(stage, text) for stage in stages)
    return KernelPlans(name, text(stages[0].before if stages else function), made)


def _planned(stage: PlanStage, text: Callable[[PrimFunc], str]) -> PlannedStage:
    if stage.after is None:
        return PlannedStage(stage.transform, stage.reason, "", None)
    before, after = text(stage.before), text(stage.after)
    title = stage.transform.capitalize()
    found = diff_texts(f"Before · {title}", before, f"After · {title}", after)
    return PlannedStage(stage.transform, stage.reason, after, found)


def _sizes_of(
    message: KernelOf | StepCostsOf | PlansOf | ScheduleOf, name: str, function: PrimFunc
) -> tuple[tuple[PrimVar, ...], dict[str, int]]:
    """Return the symbols of a kernel, and the sizes that are asked for."""
    symbols, asked = tuple(shape_symbols(function)), dict(message.sizes)
    unknown = sorted(asked.keys() - {symbol.name for symbol in symbols})
    if unknown:
        hint = f"its symbols: {', '.join(symbol.name for symbol in symbols) or 'none'}"
        raise CompileError((Diagnostic("EN005", f"`{name}` has no dimension `{unknown[0]}`", hint=hint),))
    return symbols, asked


def _source_lines(served: frozenset[int], source: Source) -> tuple[SourceLine, ...]:
    """Return the lines of the user's text that a kernel computes: those that its call sites stem from."""
    lines = source.text.split("\n")
    return tuple(SourceLine(line, lines[line - 1].strip()) for line in sorted(served))
