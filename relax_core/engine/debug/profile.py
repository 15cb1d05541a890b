"""The time of a run by the lines of the user's text."""

from collections.abc import Iterator

import numpy as np

from relax_core.bytecode.executable import Executable
from relax_core.bytecode.isa import CallInstruction
from relax_core.engine.debug.replies import Profiled, ProfileLine
from relax_core.present.nodes.origins import Lines
from relax_core.source import Source
from relax_core.vm.recording.lines import LineTable
from relax_core.vm.recording.profile import Profile


def profiled(executable: Executable, profile: Profile, source: Source) -> Profiled:
    """Add up the instructions of each line, the slowest line first; line 0 is what stems from no line.

    Instructions that compute several lines, of which passes made one kernel, are a row of their own with these lines.
    """
    texts = source.text.split("\n")
    total = float(profile.seconds.sum())
    members: dict[tuple[int, ...], list[int]] = {}
    for pc, lines in _places(executable, profile, source):
        members.setdefault(lines, []).append(pc)
    found: list[ProfileLine] = []
    for (line, *others), own in members.items():
        seconds = float(profile.seconds[own].sum())
        slowest = int(own[int(profile.seconds[own].argmax())])
        words = texts[line - 1].strip() if 0 < line <= len(texts) else ""
        calls = int(profile.counts[own].max())
        share = seconds / total if total > 0 else 0.0
        found.append(ProfileLine(line, words, calls, seconds, share, _what(executable, slowest), tuple(others)))
    rendered = profile.error.render() if profile.error is not None else ""
    ordered = tuple(sorted(found, key=lambda item: -item.seconds))
    return Profiled(ordered, total, profile.rounds, rendered)


def _places(executable: Executable, profile: Profile, source: Source) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield each instruction that ran with its line, and the others that it computes."""
    line_of = LineTable.of(executable).line_of
    lines = Lines(executable.log, source)
    for pc in np.flatnonzero(profile.counts > 0).tolist():
        own = int(line_of[pc])
        others = lines.of(executable.nodes[pc])
        yield pc, (own, *(line for line in others if line != own)) if own in others else (own,)


def _what(executable: Executable, pc: int) -> str:
    match executable.instructions[pc]:
        case CallInstruction(function=function):
            entry = executable.functions[function]
            return f"{'kernel ' if entry.kind == 'kernel' else ''}{entry.name}"
        case other:
            return type(other).__name__.removesuffix("Instruction").lower()
