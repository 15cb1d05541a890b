"""What a change means: a value that is set, a call that is skipped, or a function in place of another."""

from collections.abc import Sequence
from typing import TypeAlias

from relax_core.source import Source, Span
from relax_core.vm.changes.change import SKIP, Change, refuse, setting
from relax_core.vm.changes.replace import REPLACE, References, Replacement, replaced
from relax_core.vm.changes.skip import Skip, skipped
from relax_core.vm.recording.fork import Setting, stack_at
from relax_core.vm.recording.trace import Trace

Intervention: TypeAlias = Setting | Skip | Replacement


def is_told(text: str) -> bool:
    """Tell whether a run says that a change was made: it does so of all but values that were set."""
    return bool(REPLACE.fullmatch(text) or SKIP.fullmatch(text))


def interventions(trace: Trace, at: int, changes: Sequence[Change], references: References) -> tuple[Intervention, ...]:
    """Return what changes mean that are made together at time `at` of a run.

    Raises:
        CompileError: VM030, one cannot be read.
        RunError: VM032 or VM051, located in the change: it has no value, or does not fit. VM050: the run is over then.
    """
    found = tuple(_intervention(trace, at, change, references) for change in changes)
    skips = [change for change, item in zip(changes, found, strict=True) if isinstance(item, Skip)]
    if len(skips) > 1:
        refuse(f"a call is skipped twice at time {at}", _whole(skips[1]), f"the next one is at time {at + 1}")
    return found


def _intervention(trace: Trace, at: int, change: Change, references: References) -> Intervention:
    if REPLACE.fullmatch(change.text):
        stack_at(trace, at)
        return replaced(trace, at, change, references)
    if SKIP.fullmatch(change.text):
        frames = stack_at(trace, at)
        if change.depth not in (-1, len(frames) - 1):
            refuse("a call is skipped in the frame that runs", _whole(change), "choose the innermost frame")
        return skipped(trace, at, frames[-1], change)
    return setting(trace, at, change)


def _whole(change: Change) -> Span:
    return Span(Source("change", change.text), 0, len(change.text))
