"""Locate diagnostics of a run: the line of the running instruction, and those of its callers."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from relax_core.bytecode.executable import Executable, FunctionEntry
from relax_core.bytecode.isa import CallInstruction
from relax_core.bytecode.places import parts
from relax_core.diagnostics import Diagnostic, plural
from relax_core.source import Span
from relax_core.vm.objects.values import Value, describe
from relax_core.vm.stack import Frame

_SHOWN_CALLS: Final = 4
_SHOWN_CYCLE: Final = 8


def located(executable: Executable, frames: Sequence[Frame], diagnostic: Diagnostic) -> Diagnostic:
    """Return `diagnostic` with the running instruction's place, or, if it has one, with that as a related place."""
    if not frames:
        return diagnostic
    here = executable.span_of(frames[-1].absolute_pc)
    foreign = _foreign_spans(executable, frames[-1].absolute_pc)
    span, related = diagnostic.span, [(words, here if at in foreign else at) for words, at in diagnostic.related]
    if here is not None and span in foreign:
        span = here
    if span is None:
        span = here
    elif here is not None and here != span:
        related.append((f"called in `{_name(executable, frames[-1])}`", here))
    for frame in list(reversed(frames[:-1]))[:_SHOWN_CALLS]:
        call = executable.span_of(frame.absolute_pc)
        if call is not None:
            related.append((f"called in `{_name(executable, frame)}`", call))
    hint = diagnostic.hint if span is not None else _without_text(executable, frames[-1], diagnostic.hint)
    return replace(diagnostic, span=span, hint=hint, related=tuple(related))


def _without_text(executable: Executable, frame: Frame, hint: str) -> str:
    """Add to a hint which instruction runs, for a module that was built by a program and has no lines."""
    name = _name(executable, frame)
    words = f"There is no source position: instruction @{frame.absolute_pc} of `{name}` stems from no text."
    return f"{hint} {words}" if hint else words


def _foreign_spans(executable: Executable, pc: int) -> frozenset[Span]:
    """Return the spans of the other calls that share the kernel called at `pc`.

    A prim func that several operators share has the span of the first of them.
    """
    match executable.instructions[pc]:
        case CallInstruction(function=function) if (kernel := executable.functions[function].node) is not None:
            served, own = (executable.log.ancestry_of(nodes) for nodes in ((kernel,), parts(executable.nodes[pc])))
            spans = [frozenset(node.span for node in nodes if node.span is not None) for nodes in (served, own)]
            return spans[0] - spans[1]
        case _:
            return frozenset()


def too_deep(executable: Executable, frames: Sequence[Frame], function: int) -> str:
    """Say that calls are nested too deep, and name the functions that call each other."""
    indices = [*(frame.function for frame in frames[-_SHOWN_CYCLE:]), function]
    latest = len(indices) - 1
    start = next((index for index in range(latest - 1, -1, -1) if indices[index] == function), 0)
    cycle = " → ".join(f"`{executable.functions[index].name}`" for index in indices[start:])
    return f"calls are nested {len(frames):,} deep: {cycle}"


def wrong_count(entry: FunctionEntry, args: tuple[Value, ...]) -> str:
    """Say that a function was called with another number of arguments."""
    names = ", ".join(entry.param_names)
    takes = plural(entry.param_count, "argument")
    given = ", ".join(map(describe, args))
    return f"`{entry.name}` takes {takes} ({names}), got {len(args)} ({given})"


def _name(executable: Executable, frame: Frame) -> str:
    return executable.functions[frame.function].name
