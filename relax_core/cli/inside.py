"""What the command that steps through a kernel does: inside."""

import argparse

import msgspec

from relax_core.cli import opening
from relax_core.cli.terminal import (
    DIAGNOSED,
    Engine,
    UsageError,
    failed,
    read_bytes,
    say,
)
from relax_core.engine.debug.requests import HeatOf, InsideOf, InsideReportOf, KernelCall, ThreadsOf
from relax_core.engine.protocol import Failure, Program
from relax_core.present.running.inside_models import HeatView, InsideView

_SHOWN_SIDE = 16


def step_inside(engine: Engine, options: argparse.Namespace) -> int:
    """Carry out the command, and return its exit status."""
    if options.inputs is not None and options.sizes:
        raise UsageError("--sizes and --inputs do not go together: the sizes are those of the archive")
    if options.report and (options.go or options.heat or options.steps != 1):
        raise UsageError("--report is about the whole run: --go, --steps and --heat do not go with it")
    if options.machine and not options.report:
        raise UsageError("--machine is about what --report counts of launches")
    if options.kernel and options.time >= 0:
        raise UsageError("--kernel and --time do not go together: the time says which kernel runs")
    threads = ThreadsOf(options.launch, options.block, options.thread, options.order, options.shuffle)
    kernel = KernelCall(_program(options), options.kernel, options.time, threads)
    return _report(engine, kernel, options) if options.report else _steps(engine, kernel, options)


def _program(options: argparse.Namespace) -> Program:
    program = opening.program_at(options.file, pipeline=options.passes, entry=options.entry, archive=options.constants)
    inputs = read_bytes(options.inputs) if options.inputs is not None else None
    return msgspec.structs.replace(program, seed=options.seed, sizes=opening.sizes_in(options.sizes), inputs=inputs)


def _report(engine: Engine, kernel: KernelCall, options: argparse.Namespace) -> int:
    found = engine.request(InsideReportOf(kernel, options.machine))
    if isinstance(found, Failure):
        return failed(found)
    say(msgspec.json.encode(found).decode() if options.json else found.to_text())
    return 0


def _steps(engine: Engine, kernel: KernelCall, options: argparse.Namespace) -> int:
    moves, clock, views = tuple(options.go), 0, list[InsideView]()
    for _ in range(max(options.steps, 1)):
        found = engine.request(InsideOf(kernel, clock, moves, watches=tuple(options.watch)))
        if isinstance(found, Failure):
            return failed(found)
        views.append(found)
        if found.is_ended or found.problem or not found.is_found:
            break
        clock, moves = found.clock + 1, ()
    last = views[-1]
    heat = engine.request(HeatOf(kernel, last.clock, options.heat)) if options.heat else None
    if isinstance(heat, Failure):
        return failed(heat)
    if options.json:
        say(_json(views, heat))
    else:
        lines = [item.to_text() for item in views]
        if not last.is_found:
            lines.append("there is no such statement: the run stays here")
        say("\n".join((*lines, *([_grid(heat)] if heat is not None else []))))
    return 0 if last.is_found and not last.problem else DIAGNOSED


def _json(views: list[InsideView], heat: HeatView | None) -> str:
    shown = [{key: value for key, value in msgspec.to_builtins(item).items() if key != "text"} for item in views]
    found = None if heat is None else msgspec.to_builtins(heat)
    return msgspec.json.encode({"stops": shown, "heat": found}).decode()


def _grid(heat: HeatView) -> str:
    """Print the counts of a buffer's first rows and columns."""
    rows, columns = min(heat.rows, _SHOWN_SIDE), min(heat.columns, _SHOWN_SIDE)
    lines = [f"{heat.buffer}{list(heat.shape)}: {heat.counted:,} touches of {heat.touched:,} elements"]
    if not heat.texts:
        return lines[0]
    cells = [[heat.texts[row * heat.columns + column] or "." for column in range(columns)] for row in range(rows)]
    width = max((len(cell) for row in cells for cell in row), default=1)
    more = " ..." if heat.column_count > columns else ""
    lines += ["  " + " ".join(cell.rjust(width) for cell in row) + more for row in cells]
    return "\n".join(lines if heat.row_count <= rows else [*lines, "  ..."])
