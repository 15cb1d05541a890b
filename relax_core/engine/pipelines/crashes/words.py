"""What was found of a crash, in one paragraph and as the text of a report."""

from dataclasses import dataclass, replace
from typing import Final

from relax_core.codes import CODES
from relax_core.diagnostics import Diagnostic
from relax_core.engine.pipelines.pipeline import INPUT, Pipeline, RecordedStage
from relax_core.engine.replies import Crash

_AROUND: Final = 12
"""Lines of the module that a report shows before and behind the one that is wrong."""
_FACTS: Final = ("tvm", "target", "python", "numpy")


@dataclass(frozen=True, slots=True)
class CrashFinding:
    """Where it stopped, the position of the form before, and the mistake in it, if one was found."""

    where: str
    error: str
    position: int
    """Of the stage that stopped, -1 for a run."""
    before: int = -1
    since: int = -1
    """The position of the first form with that mistake; -1 if none brought it."""
    mistake: Diagnostic | None = None
    origin: Diagnostic | None = None
    """The mistake in the first form that has it."""
    is_named: bool = False
    """What it stopped with names what the mistake is about."""

    def at(self, before: int) -> "CrashFinding":
        """Return it with the form before."""
        return replace(self, before=before)

    def because(
        self, mistake: Diagnostic, positions: tuple[int, int], origin: Diagnostic, *, is_named: bool
    ) -> "CrashFinding":
        """Return it with a mistake, and the positions of the form that has it and of the first one, with its own."""
        before, since = positions
        return replace(self, mistake=mistake, before=before, since=since, origin=origin, is_named=is_named)


def answer_of(pipeline: Pipeline, found: CrashFinding) -> Crash:
    """Return what was found as a reply."""
    code = found.mistake.code if found.mistake is not None else ""
    words = _paragraph(pipeline, found)
    rule = " ".join(CODES.get(code, "").split())
    return Crash(
        words,
        _stopped(pipeline, found),
        position=found.position,
        before=found.before,
        line=_line(found.mistake),
        since=found.since,
        since_line=_line(found.origin),
        code=code,
        rule=rule,
        report=_report(pipeline, found, words, rule),
    )


def _line(mistake: Diagnostic | None) -> int:
    return mistake.span.line if mistake is not None and mistake.span is not None else 0


def _who(pipeline: Pipeline) -> str:
    return "TVM" if "tvm" in pipeline.facts else "The compiler"


def _stopped(pipeline: Pipeline, found: CrashFinding) -> str:
    """Say where it stopped, in a few words."""
    if found.position < 0:
        return f"{_who(pipeline)} stopped in {found.where}"
    stage = pipeline.stages[found.position]
    if stage.pass_name.startswith("("):
        return f"{_who(pipeline)} stopped {found.where}"
    return f"{_who(pipeline)} stopped in pass {found.where} (stage {stage.number})"


def _paragraph(pipeline: Pipeline, found: CrashFinding) -> str:
    raised = found.error.removeprefix("it raised ")
    first = f"{_stopped(pipeline, found)} with {raised.rstrip('.')}."
    if raised == found.error:
        first = f"{_stopped(pipeline, found)}: {raised.rstrip('.')}."
    if found.before < 0:
        return f"{first} The recording holds no module from before."
    before = pipeline.stages[found.before]
    mistake = found.mistake
    if mistake is None:
        return f"{first} Nothing was found in the module before it ({_title(before)}) that explains it."
    line = _line(mistake)
    place = f" at line {line}" if line else ""
    broken = f"{mistake.code}{place}"
    how = f"does not run here either: {broken}" if mistake.code.startswith(("VM", "JT")) else f"breaks {broken}"
    own = f"The module before it ({_title(before)}) {how}: {mistake.message.rstrip('.')}."
    return " ".join(filter(None, (first, own, _since(pipeline, found), _relation(found))))


def _since(pipeline: Pipeline, found: CrashFinding) -> str:
    """Say which pass brought the mistake, and what it was there."""
    if found.since < 0 or found.origin is None or found.mistake is None:
        return ""
    stage = pipeline.stages[found.since]
    line, words = _line(found.origin), found.origin.message.rstrip(".")
    place = f" at line {line}" if line else ""
    there = f", there{place}: {words}" if found.origin.message != found.mistake.message else ""
    if stage.pass_name == INPUT or found.since == 0:
        return f"The program had it before the first pass{there}."
    return f"It is there since {_title(stage)}{there}."


def _relation(found: CrashFinding) -> str:
    if found.is_named:
        return "What it stopped with names the same."
    return "What it stopped with does not say whether that is why."


def _title(stage: RecordedStage) -> str:
    return f"{stage.pass_name}, stage {stage.number}"


def _report(pipeline: Pipeline, found: CrashFinding, words: str, rule: str) -> str:
    """Return the text of a bug report in Markdown."""
    parts = [f"# {_fenced(_stopped(pipeline, found))}", _fenced(words), f"```\n{_fenced(found.error)}\n```"]
    if rule and found.mistake is not None:
        parts.append(f"## The rule, {found.mistake.code}\n\n{rule}")
        if found.mistake.hint:
            parts.append(f"Hint: {found.mistake.hint}")
    if found.before >= 0:
        parts.append(_module(pipeline.stages[found.before], _line(found.mistake)))
    facts = [f"- {key}: {pipeline.facts[key]}" for key in _FACTS if key in pipeline.facts]
    passes = ", ".join(stage.pass_name for stage in pipeline.stages[: max(found.position, 0) or None])
    return "\n\n".join((*parts, "## Environment", *(("\n".join(facts),) if facts else ()), f"Passes: {passes}")) + "\n"


def _module(stage: RecordedStage, line: int) -> str:
    """Return the module around a line, or its beginning."""
    rows = (stage.text or "").splitlines()
    start = max(0, line - 1 - _AROUND)
    part = [
        f"{at + 1:>5}{'>' if at + 1 == line else ' '} {row}"
        for at, row in enumerate(rows[start : start + 2 * _AROUND + 1], start)
    ]
    return f"## The module before it: {_title(stage)}\n\n```\n{_fenced(chr(10).join(part))}\n```"


def _fenced(text: str) -> str:
    """Keep a text from ending the block that it stands in."""
    return text.replace("```", "'''")
