"""`diff OLD NEW --markdown`: what became of the modules of a folder, for a pull request."""

import argparse
import sys
from pathlib import Path
from typing import Final
from urllib.parse import quote

import msgspec

from relax_core.cli import opening
from relax_core.cli.review.changes import ModuleChange, exit_status, to_markdown
from relax_core.cli.review.pairing import Pair, paired
from relax_core.cli.terminal import Engine, UsageError, complain, say
from relax_core.engine.debug.requests import BisectOf, ProfileOf
from relax_core.engine.debug.tolerance import Closeness
from relax_core.engine.files import printable
from relax_core.engine.halving.reply import Budget
from relax_core.engine.protocol import Failure, MeasuredOf, Program, ReportOf
from relax_core.engine.replies import Measured

_NO_HALVING: Final = Budget(0.0, 0)
_FEW: Final = 1


def print_changes(engine: Engine, options: argparse.Namespace) -> int:
    """Print what became of each module; the status is that of `exit_status`."""
    if options.printed or options.structure or options.json:
        raise UsageError("--markdown goes with neither --printed, --structure nor --json")
    pairs = paired(options.before, options.after)
    is_watched = sys.stderr is not None and sys.stderr.isatty()  # pyright: ignore[reportUnnecessaryComparison]  # it may have been closed
    changes: list[ModuleChange] = []
    for number, pair in enumerate(pairs, 1):
        if is_watched and len(pairs) > _FEW:
            complain(f"{number} of {len(pairs)}: {printable(pair.name)}")
        changes.append(_change(engine, pair, options))
    say(to_markdown(changes, f"{printable(options.before)} → {printable(options.after)}"))
    return exit_status(changes, options.fail_on)


def _change(engine: Engine, pair: Pair, options: argparse.Namespace) -> ModuleChange:
    try:
        old, new = (_program(path, options) for path in (pair.old, pair.new))
    except UsageError as error:
        if not Path(options.before).is_dir():
            raise
        return ModuleChange(pair.name, problem=str(error))
    if old is None or new is None:
        return _alone(engine, pair, old, new, options)
    before, after = (engine.request(MeasuredOf(_measured(program, options))) for program in (old, new))
    if isinstance(before, Failure) or isinstance(after, Failure):
        sides = (("OLD", before), ("NEW", after))
        why = "; ".join(f"{side}: {_why(reply)}" for side, reply in sides if isinstance(reply, Failure))
        left, right = (None if isinstance(reply, Failure) else reply for reply in (before, after))
        return ModuleChange(pair.name, left, right, why, reports=_reports(engine, pair, (old, new), options))
    if before.digest == after.digest:
        return ModuleChange(pair.name, before, after)
    return _compared(engine, pair, (old, new), (before, after), options)


def _compared(
    engine: Engine,
    pair: Pair,
    programs: tuple[Program, Program],
    measured: tuple[Measured, Measured],
    options: argparse.Namespace,
) -> ModuleChange:
    """Run both on the same arguments."""
    old, new = programs
    found = engine.request(BisectOf(old, (new,), Closeness(), _NO_HALVING))
    if isinstance(found, Failure):
        verdict, words = "not comparable", _why(found)
    else:
        verdict, words = found.verdict, found.stages[-1].words
    reports = _reports(engine, pair, programs, options)
    seconds = _seconds(engine, programs) if options.time and verdict in ("same", "different") else None
    return ModuleChange(pair.name, *measured, "", verdict, words, seconds, reports)


def _alone(
    engine: Engine, pair: Pair, old: Program | None, new: Program | None, options: argparse.Namespace
) -> ModuleChange:
    """Measure a module that one side has."""
    found = [
        None if program is None else engine.request(MeasuredOf(_measured(program, options))) for program in (old, new)
    ]
    why = "; ".join(_why(reply) for reply in found if isinstance(reply, Failure))
    left, right = (None if isinstance(reply, Failure) else reply for reply in found)
    missing = "new" if new is None else "old"
    return ModuleChange(
        pair.name, left, right, why, reports=_reports(engine, pair, (old, new), options), missing=missing
    )


def _program(path: str, options: argparse.Namespace) -> Program | None:
    """Read a module, `None` if this side does not have it."""
    if not path:
        return None
    program = opening.program_at(path, pipeline=options.passes)
    return msgspec.structs.replace(program, seed=options.seed)


def _measured(program: Program, options: argparse.Namespace) -> Program:
    """Return what is measured: without passes the module as it stands, not what makes it run."""
    return msgspec.structs.replace(program, pipeline=options.passes or "")


def _why(failure: Failure) -> str:
    if failure.problems:
        first = failure.problems[0]
        return f"{first.code}: {first.message}"
    return failure.problem.message


def _seconds(engine: Engine, programs: tuple[Program, Program]) -> tuple[float, float] | None:
    found = [engine.request(ProfileOf(program)) for program in programs]
    times = [reply.seconds for reply in found if not isinstance(reply, Failure) and not reply.rendered]
    return (times[0], times[1]) if len(times) == len(programs) else None


def _reports(
    engine: Engine, pair: Pair, programs: tuple[Program | None, Program | None], options: argparse.Namespace
) -> tuple[tuple[str, str], ...]:
    """Write a report of each side below the folder that was asked for, and return where they are."""
    if not options.reports:
        return ()
    found: list[tuple[str, str]] = []
    for side, program in zip(("old", "new"), programs, strict=True):
        if program is None:
            continue
        reply = engine.request(ReportOf(program))
        if isinstance(reply, Failure):
            complain(f"note: no report of {printable(program.name)}: {_why(reply)}")
            continue
        place = f"{side}/{pair.name}.html"
        _write(Path(options.reports) / place, reply.html)
        base = options.link_base or options.reports
        found.append((side, f"{base.rstrip('/')}/{quote(place)}"))
    return tuple(found)


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {printable(str(path))}: {error.strerror}") from None
