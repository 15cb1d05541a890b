"""Answers about a recorded pipeline: its stages, their faults, their texts, and where a name occurs in them."""

from collections.abc import Iterator
from typing import Final

from relax_core.check.check import combined
from relax_core.check.text import check_text
from relax_core.diagnostics import CompileError, Diagnostic, RunError
from relax_core.engine.debug.request_context import RequestContext
from relax_core.engine.debug.requests import (
    AppearancesOf,
    LifeOf,
    Parcel,
    RecordedFaultsOf,
    RecordedFilesOf,
    RecordedOf,
    RecordedOriginsOf,
    RecordedTextsOf,
    TraceOf,
)
from relax_core.engine.pipelines import pipeline as pipelines
from relax_core.engine.pipelines.matching import line_origins as matching
from relax_core.engine.pipelines.matching import lives
from relax_core.engine.pipelines.matching.chain import Poll
from relax_core.engine.pipelines.trace import writer
from relax_core.engine.protocol import (
    Progress,
)
from relax_core.engine.replies import (
    Appearances,
    RecordedFaults,
    RecordedFiles,
    RecordedTexts,
    RecordedView,
    StageFaults,
    TraceFile,
)
from relax_core.engine.screens.text_views import appearances_in
from relax_core.present import models
from relax_core.present.diffs.diff import diff_texts, line_counts
from relax_core.present.diffs.patch import patch_of
from relax_core.present.nodes.origin_models import NodeLife, Origins
from relax_core.present.problems import problem_of, problems_of

_SOURCES: Final = (("dumps", "numbered dumps"), ("log", "a log"), ("files", "files in order"), ("trace", "a trace"))
_PROBLEM_LIMIT: Final = 20
_MISSING_LIMIT: Final = 50
_FACT_CHARACTERS: Final = 300


def recorded(message: RecordedOf, context: RequestContext) -> RecordedView:
    """List the stages of a recording."""
    opened = context.recorded_by(message.parcel)
    forms = frozenset(stage.number for stage in opened.forms())
    before = ""
    listed: list[models.Stage] = []
    for position, stage in enumerate(opened.stages):
        is_form = stage.number in forms
        listed.append(_stage(opened, stage, position, before if is_form and listed else None))
        before = stage.text or "" if is_form else before
        _poll(context, "Reading", position + 1, len(opened.stages))
    outermost = min((stage.depth or 0 for stage in opened.stages), default=0)
    seconds = sum(max(stage.seconds, 0.0) for stage in opened.stages if (stage.depth or 0) == outermost)
    return RecordedView(
        models.Pipeline(tuple(listed), seconds),
        tuple(position for position, stage in enumerate(opened.stages) if stage.number in forms),
        dict(_SOURCES)[opened.source_kind],
        tuple((key, value[:_FACT_CHARACTERS]) for key, value in opened.facts.items()),
        problems_of(opened.diagnostics),
        tuple(_missing(opened)),
        tuple(run.entry for run in opened.runs),
        opened.has_crash,
    )


def _stage(
    opened: "pipelines.Pipeline", stage: "pipelines.RecordedStage", position: int, before: str | None
) -> models.Stage:
    """Present a stage; `before` is the text of the form before, `None` if this is none or the first one."""
    added, removed = (0, 0) if before is None else line_counts(before, stage.text or "")
    change = ""
    if opened.is_helper(stage):
        change = "no text" if stage.text is None else "sub-module"
    problems = (problem_of(Diagnostic("PL009", stage.error)),) if stage.error else ()
    return models.Stage(
        position,
        stage.pass_name,
        before is not None,
        added,
        removed,
        change,
        stage.seconds,
        problems=problems,
        depth=stage.depth or 0,
        label=f"{stage.number:03d}",
        mark="raised" if problems else "",
    )


def _missing(opened: "pipelines.Pipeline") -> Iterator[str]:
    for item in opened.missing_constants()[:_MISSING_LIMIT]:
        type_ = f" of type {item.type}" if item.type else ""
        yield f"`{item.name}`{type_} is not at hand: stage {item.stage}, line {item.line}: `{item.use}`"


def faults(message: RecordedFaultsOf, context: RequestContext) -> RecordedFaults:
    """Read and check every form of the program."""
    opened = context.recorded_by(message.parcel)
    forms = frozenset(stage.number for stage in opened.forms())
    found: list[StageFaults] = []
    for position, stage in enumerate(opened.stages):
        if stage.number not in forms:
            continue
        _poll(context, f"Checking {stage.pass_name}", position + 1, len(opened.stages))
        parsed = opened.parsed(stage)
        errors = [item for item in combined(parsed.diagnostics, check_text(parsed)) if item.severity == "error"]
        if errors:
            found.append(StageFaults(position, problems_of(errors[:_PROBLEM_LIMIT]), len(errors)))
    return RecordedFaults(tuple(found), len(forms))


def texts(message: RecordedTextsOf, context: RequestContext) -> RecordedTexts:
    """Set the texts of two stages side by side."""
    left, right = _sides(message, context)
    titles = f"A · {_title(left)}", f"B · {_title(right)}"
    diff = diff_texts(titles[0], left.text or "", titles[1], right.text or "", is_placed=True)
    words = tuple(dict.fromkeys(_no_text(stage) for stage in (left, right) if stage.text is None))
    return RecordedTexts(diff, words)


def files(message: RecordedFilesOf, context: RequestContext) -> RecordedFiles:
    """Write the text of the right stage, and the patch that makes it of the left one."""
    left, right = _sides(message, context)
    text = right.text or ""
    return RecordedFiles(text, patch_of(left.text or "", text, left.name, right.name))


def _sides(
    message: RecordedTextsOf | RecordedFilesOf, context: RequestContext
) -> tuple["pipelines.RecordedStage", "pipelines.RecordedStage"]:
    opened = context.recorded_by(message.parcel)
    return _at(opened, message.left), _at(opened, message.right)


def _at(opened: "pipelines.Pipeline", position: int) -> "pipelines.RecordedStage":
    if not 0 <= position < len(opened.stages):
        message = f"there is no stage at position {position}; the last one is at {len(opened.stages) - 1}"
        raise CompileError((Diagnostic("PL013", message),))
    return opened.stages[position]


def _title(stage: "pipelines.RecordedStage") -> str:
    return f"{stage.number:03d} {stage.pass_name}"


def _no_text(stage: "pipelines.RecordedStage") -> str:
    return f"{_title(stage)} has no text: {stage.error or 'it was not kept'}"


def trace_file(message: TraceOf, context: RequestContext) -> TraceFile:
    """Write a recording as a trace."""
    opened = context.recorded_by(message.parcel)
    _poll(context, "Writing the trace", 0, 0)
    return TraceFile(writer.write_trace(opened))


def appearances(message: AppearancesOf, context: RequestContext) -> Appearances:
    """Say from which stages on a text occurs, and from which on it does no longer."""
    opened = context.recorded_by(message.parcel)
    position_of = {stage.number: position for position, stage in enumerate(opened.stages)}
    forms = ((position_of[stage.number], _title(stage), stage.text or "") for stage in opened.forms())
    return appearances_in(message.text, forms)


def life(message: LifeOf, context: RequestContext) -> NodeLife:
    """Follow a part of the program through all its forms."""
    chain, poll = _matched(message.parcel, context)
    return lives.life_of(chain, message.position, message.line, message.name, poll)


def line_origins(message: RecordedOriginsOf, context: RequestContext) -> Origins:
    """Say which lines every line of every form is linked to."""
    chain, poll = _matched(message.parcel, context)
    return matching.origins_of(chain, message.position, message.line, poll)


def _matched(parcel: Parcel, context: RequestContext) -> tuple[lives.Chain, Poll]:
    def poll(what: str, done: int, total: int) -> None:
        _poll(context, what, done, total)

    return context.recorded_by(parcel).chain(poll), poll


def _poll(context: RequestContext, what: str, done: int, total: int) -> None:
    if context.is_cancelled():
        raise RunError((Diagnostic("VM008", "cancelled while reading the stages"),))
    context.report(Progress(what, done, total))
