"""A schedule that is written by hand: a kernel behind each of its steps, checked by value and timed."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from io import BytesIO
from itertools import pairwise
from statistics import median
from typing import Any, Final, cast

import msgspec
import numpy as np

from relax_core.analysis.cost.arithmetic import operations
from relax_core.analysis.cost.sizes import UnknownCostError
from relax_core.diagnostics import CompileError, DiagnosedError, Diagnostic
from relax_core.engine.debug.request_context import RequestContext
from relax_core.engine.protocol import Progress, ScheduleOf
from relax_core.engine.screens.kernel_view import kernel_to_time
from relax_core.ir.expr import GlobalVar
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import preorder
from relax_core.ir.tir import For, PrimFunc
from relax_core.jit.engine import Engine
from relax_core.jit.kernel import Host
from relax_core.jit.transforms.registry import SUMMARIES
from relax_core.jit.turns import Array
from relax_core.jit.ways import Timed, Way, look, time_in_turns
from relax_core.passes.pipeline import read_steps, run_pipeline
from relax_core.present.code import without_header
from relax_core.present.diffs.diff import diff_texts
from relax_core.present.kernel_models import ForTvm, Rung, ScheduleTable
from relax_core.present.measures import bytes_text
from relax_core.present.problems import problems_of
from relax_core.printer.spelling import Tvm
from relax_core.printer.tvmscript import print_for_tvm, print_module

_PARALLEL = "parallel"
_MOST_STEPS = 60
_LIMIT_BYTES: Final = 32_000_000
"""Of what is handed to apache-tvm: it goes through the process that shows the table."""


def schedule_table(message: ScheduleOf, context: RequestContext) -> ScheduleTable:
    """Apply a schedule to a kernel, and time what stands behind each step on the same made-up arguments.

    Each is compiled as it stands there, without the transformations of the compiler; loops that are marked parallel are
    run by several threads.

    Raises:
        DiagnosedError: there is no such kernel or symbol, the schedule cannot be read, the kernel as it is written
            cannot be compiled, or stops on the arguments, or it was cancelled.
    """
    timed, args = kernel_to_time(message, context)
    name, function = timed.name, timed.function
    opened = context.opened_by(message.program)
    module_name = opened.compilation.executable(context.report, context.is_cancelled).module.name
    engine = context.engine_of(opened)
    made, refused = _applied(name, function, message.schedule)

    def text(shown: PrimFunc) -> str:
        alone = IRModule((Definition(GlobalVar(name), shown),), name=module_name)
        return without_header(print_module(alone, spelling=opened.source.spelling)).text

    steps = (("", function), *made)
    texts = [text(item) for _, item in steps]
    ways: list[Way | str] = []
    for number, (step, item) in enumerate(steps):
        look(context.is_cancelled)
        context.report(Progress(f"Compiling {step or 'the kernel as it is written'}", number, len(steps) + 1))
        ways.append(_way(_plainly(engine, item), replace(timed, function=item), args, is_first=number == 0))
    ours = Way(engine, timed, args)
    context.report(Progress("Timing", len(steps), len(steps) + 1))
    time_in_turns([ours, *(way for way in ways if isinstance(way, Way))], context.is_cancelled)
    first = ways[0]
    assert isinstance(first, Way), "the kernel as it is written could be compiled"
    rungs = [_rung(step, shown, way, first) for (step, _), shown, way in zip(steps, texts, ways, strict=True)]
    return ScheduleTable(
        name,
        engine.target.processor,
        message.schedule,
        _operations(function, args),
        tuple(_with_diffs(rungs)),
        _rung("", texts[0], ours, first),
        problems_of(refused),
        for_tvm=_for_tvm((name, [item for _, item in steps]), message.tvm, engine, args, first)
        if message.tvm
        else None,
    )


def _for_tvm(
    named: tuple[str, Sequence[PrimFunc]], tvm: Tvm, engine: Engine, args: Sequence[Any], first: Way
) -> ForTvm:
    """Write the kernels in the words of TVM, with the arguments and what the first one makes of them."""
    given = [cast("Array", arg) for arg in args if isinstance(arg, np.ndarray)]
    changed = [array.tobytes() != left.tobytes() for array, left in zip(given, first.results, strict=True)]
    arrays = [*given, *(left for left, is_changed in zip(first.results, changed, strict=True) if is_changed)]
    size = sum(array.nbytes for array in arrays)
    if size > _LIMIT_BYTES:
        most = bytes_text(_LIMIT_BYTES)
        return ForTvm(problem=f"the arrays of a call are not handed to apache-tvm: {bytes_text(size)}, at most {most}")
    name, kernels = named
    content = BytesIO()
    for array in arrays:
        np.save(content, array, allow_pickle=False)
    return ForTvm(
        name,
        engine.target.processor,
        tuple(print_for_tvm(IRModule((Definition(GlobalVar(name), kernel),)), tvm).text for kernel in kernels),
        tuple(None if isinstance(arg, np.ndarray) else arg for arg in args),
        tuple(changed),
        content.getvalue(),
    )


def _applied(
    name: str, function: PrimFunc, schedule: str
) -> tuple[tuple[tuple[str, PrimFunc], ...], tuple[Diagnostic, ...]]:
    """Return the kernel behind each step that is taken, and what is said of the one that is not."""
    steps = read_steps(schedule, "tir") if schedule.strip() else ()
    if len(steps) > _MOST_STEPS:
        message = f"a schedule of {len(steps)} steps; at most {_MOST_STEPS} are timed"
        raise CompileError((Diagnostic("PS019", message),))
    module = IRModule((Definition(GlobalVar(name), function),))
    made: list[tuple[str, PrimFunc]] = []
    refused: tuple[Diagnostic, ...] = ()
    for stage, step in zip(run_pipeline(module, steps) if steps else (), steps, strict=False):
        if stage.is_failed:
            refused = tuple(stage.diagnostics)
            break
        after = stage.after[name]
        assert isinstance(after, PrimFunc), "a pass on TIR keeps prim funcs"
        made.append((step.text, after))
    return tuple(made), refused


def _plainly(engine: Engine, function: PrimFunc) -> Host:
    """Compile a kernel as it stands there: by threads if a loop is marked so, else without any transformation."""
    if any(isinstance(node, For) and node.kind == _PARALLEL for node in preorder(function.body)):
        off = tuple(sorted(item for item in SUMMARIES if item != _PARALLEL))
        return engine.variation(replace(engine.options, without=off))
    return engine.variation(replace(engine.options, is_transformed=False))


def _way(host: Host, timed: Timed, args: Sequence[Any], *, is_first: bool) -> Way | str:
    try:
        return Way(host, timed, args)
    except DiagnosedError as error:
        if is_first:
            raise
        return f"does not run here: {error.diagnostics[0].message}"


def _rung(step: str, text: str, way: Way | str, first: Way) -> Rung:
    if isinstance(way, str):
        return Rung(step, text, problem=way)
    return Rung(step, text, median(way.seconds), *way.against(first))


def _with_diffs(rungs: Sequence[Rung]) -> Iterator[Rung]:
    yield rungs[0]
    for before, rung in pairwise(rungs):
        title = rung.step.partition("(")[0]
        found = diff_texts(f"Before {title}", before.text, f"After {title}", rung.text)
        yield msgspec.structs.replace(rung, diff=found)


def _operations(function: PrimFunc, args: Sequence[Any]) -> int:
    shapes = [int(arg) if np.ndim(arg) == 0 else np.shape(arg) for arg in args]
    try:
        return operations(function, shapes)
    except UnknownCostError:
        return 0
