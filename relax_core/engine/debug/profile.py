"""The time of a run by the lines of the user's text."""

import numpy as np

from relax_core.bytecode.executable import Executable
from relax_core.bytecode.isa import CallInstruction
from relax_core.engine.debug.replies import Profiled, ProfileLine
from relax_core.vm.lines import LineTable
from relax_core.vm.profile import Profile


def profiled(executable: Executable, profile: Profile, text: str) -> Profiled:
    """Add up the instructions of each line, the slowest line first; line 0 is what stems from no line."""
    line_of = LineTable.of(executable).line_of
    lines = text.split("\n")
    total = float(profile.seconds.sum())
    found: list[ProfileLine] = []
    for line in sorted({int(line) for line in line_of[profile.counts > 0]}):
        own = np.flatnonzero((line_of == line) & (profile.counts > 0))
        seconds = float(profile.seconds[own].sum())
        slowest = int(own[profile.seconds[own].argmax()])
        words = lines[line - 1].strip() if 0 < line <= len(lines) else ""
        calls = int(profile.counts[own].max())
        share = seconds / total if total > 0 else 0.0
        found.append(ProfileLine(line, words, calls, seconds, share, _what(executable, slowest)))
    rendered = profile.error.render() if profile.error is not None else ""
    ordered = tuple(sorted(found, key=lambda item: -item.seconds))
    return Profiled(ordered, total, profile.rounds, rendered)


def profile_text(profiled: Profiled) -> str:
    """Print a profile as a table."""
    rounds = f"{profiled.rounds} run{'' if profiled.rounds == 1 else 's'}"
    head = (
        f"{'share':>6} {'us':>12} {'runs':>8} {'line':>5}  {profiled.seconds * 1e6:,.1f} us in all, median of {rounds}"
    )
    rows = (
        f"{item.share:>6.1%} {item.seconds * 1e6:>12,.1f} {item.calls:>8,} {item.line or '-':>5}  "
        f"{item.text or '(no line)'}  [{item.what}]"
        for item in profiled.lines
    )
    return "\n".join((head, *rows))


def _what(executable: Executable, pc: int) -> str:
    match executable.instructions[pc]:
        case CallInstruction(function=function):
            entry = executable.functions[function]
            return f"{'kernel ' if entry.kind == 'kernel' else ''}{entry.name}"
        case other:
            return type(other).__name__.removesuffix("Instruction").lower()
