"""Run a pass defensively: a module comes back, or diagnostics that say what happened instead."""

import traceback
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any, Final, cast

from relax_core.check.check import check
from relax_core.diagnostics import CompileError, DiagnosedError, Diagnostic, has_errors
from relax_core.frontend.collector import collector_held
from relax_core.ir.module import IRModule
from relax_core.passes import library
from relax_core.passes.core import Pass, Stage

_PACKAGE: Final = Path(__file__).resolve().parents[1]
_LONGEST: Final = 300
_ERRORS_SHOWN: Final = 20


def module_made(pass_: Pass, run: Callable[[], IRModule]) -> IRModule:
    """Return the module that `run` returns when it runs `pass_`.

    A pass may be the user's own code, so that an exception is a finding about the pass and not a mistake of ours.

    Raises:
        CompileError: the pass refused the module (its own diagnostics), raised another exception (PS015), or returned
            no module (PS016).
        MemoryError: the process is out of memory.
    """
    try:
        with collector_held():
            made = cast("object", run())
    except MemoryError:
        raise
    except DiagnosedError as error:
        if has_errors(error.diagnostics):
            raise CompileError(error.diagnostics) from error
        raise CompileError((*error.diagnostics, _stopped(pass_, error))) from error
    except Exception as error:
        raise CompileError((_stopped(pass_, error),)) from error
    if not isinstance(made, IRModule):
        found = "None" if made is None else f"a value of type {type(made).__name__}"
        hint = "end `run` with `return module`, the one that was given if there is nothing to do"
        raise CompileError((Diagnostic("PS016", f"{pass_.name} must return an IRModule, got {found}", hint=hint),))
    return made


def is_of_library(pass_: Pass) -> bool:
    """Tell whether a pass is one of `library.PASSES`, whose output the tests check."""
    return any(item is pass_ for item in library.PASSES.values())


def faults_in(
    module: IRModule, name: str, allowed: tuple[str, ...] = (), before: Iterable[IRModule] = ()
) -> tuple[Diagnostic, ...]:
    """Return PS017 with the errors of `module`, which the pass `name` left, but for those with the codes `allowed`.

    `before` are modules that it was made from, the latest first: only what changed since is looked at.
    """
    hint = "run `rc.check` on the `rejected` module of this stage"
    try:
        with collector_held():
            errors = [
                item for item in check(module, before=before) if item.severity == "error" and item.code not in allowed
            ]
    except MemoryError:
        raise
    except Exception as error:
        # A module of foreign code may hold anything, such as `None` where an expression belongs.
        message = f"{name} left a module that cannot be checked: {_exception_text(error)}"
        return (Diagnostic("PS017", message, hint="nodes hold nodes: look for `None` and for strings among them"),)
    if not errors:
        return ()
    more = f", and {len(errors) - 1} more" if len(errors) > 1 else ""
    message = f"{name} left a module that is ill-formed: {errors[0].message} ({errors[0].code}{more})"
    return (Diagnostic("PS017", message, errors[0].span, hint), *errors[:_ERRORS_SHOWN])


def rejected(stage: Stage, faults: tuple[Diagnostic, ...]) -> Stage:
    """Return a stage that failed because of `faults` in the module that it left, which is kept as `rejected`."""
    said = (*faults, *stage.diagnostics)
    return replace(stage, after=stage.before, rejected=stage.after, diagnostics=said)


def warnings_since(before: IRModule, after: IRModule) -> tuple[Diagnostic, ...]:
    """Return the warnings about `after`, which has no errors, that `before` did not have."""
    known = {(item.code, item.message) for item in check(before)}
    return tuple(item for item in check(after) if (item.code, item.message) not in known)


def _stopped(pass_: Pass, error: Exception) -> Diagnostic:
    message = f"{pass_.name} stopped with {_exception_text(error)}{_place(pass_, error)}"
    if is_of_library(pass_):
        if isinstance(error, RecursionError):
            return Diagnostic("PS015", f"the program is nested more deeply than {pass_.name} can follow")
        return Diagnostic(
            "PS015", message, hint="this is a mistake in the pass, not in the program; leave the pass out"
        )
    return Diagnostic("PS015", message, hint="a pass that cannot go on says so with `ctx.fail(code, message, node)`")


def _exception_text(error: Exception) -> str:
    lines = traceback.format_exception_only(error)
    # The lines before the last of a syntax error show its place, those behind the first of another one its notes.
    text = " ".join(lines[-1 if isinstance(error, SyntaxError) else 0].split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _place(pass_: Pass, error: Exception) -> str:
    """Name the last place of a traceback that is in the pass: in its file, else outside of this package."""
    frames = list(traceback.walk_tb(error.__traceback__))[1:]
    own = _file_of(pass_)
    ways = (
        [item for item in frames if item[0].f_code.co_filename == own and not is_of_library(pass_)],
        [item for item in frames if _is_ours(item[0]) == is_of_library(pass_)],
        frames,
    )
    found = next((way[-1] for way in ways if way), None)
    if found is None:
        return ""
    frame, line = found
    file = frame.f_code.co_filename
    shown = Path(file).relative_to(_PACKAGE.parent).as_posix() if _is_ours(frame) else file
    return f" at {shown}:{line}, in {frame.f_code.co_name}"


def _is_ours(frame: FrameType) -> bool:
    return Path(frame.f_code.co_filename).is_relative_to(_PACKAGE)


def _file_of(pass_: Pass) -> str:
    """Return the file of a pass's function, "" if it has none that is known, as a callable object or a builtin."""
    run: Any = pass_.run
    while (inner := getattr(run, "func", None) or getattr(run, "__wrapped__", None)) is not None:
        run = inner
    return getattr(getattr(run, "__code__", None), "co_filename", "")
