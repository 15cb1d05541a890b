"""The passes in a report: a list of them, and of each that did something its remarks, diff and graph."""

from collections.abc import Iterator
from typing import Final

from relax_core.diagnostics import Diagnostic, RunError, plural
from relax_core.engine.debug.request_context import RequestContext
from relax_core.engine.protocol import CompareGraph, GraphOf, PipelineOf, Program, Progress, RegionReportOf, StageOf
from relax_core.engine.replies import StageView
from relax_core.engine.reporting.drawing import Drawings
from relax_core.engine.screens import partition_view, stage_views
from relax_core.present.escape import markup
from relax_core.present.models import Pipeline, Stage
from relax_core.present.report.elements import PART_END, block, chip, part, part_start, problems, said, table
from relax_core.present.report.page import ReportSection
from relax_core.present.report.pieces import Piece, Rank
from relax_core.present.report.texts import difference, listing

NAME: Final = "passes"
_REWRITES: Final = 40
_REMARKS: Final = 60


def stages_section(
    program: Program, entry: str, drawings: Drawings, context: RequestContext, *, is_timed: bool
) -> ReportSection:
    """Tell what each pass did."""
    ran = stage_views.pipeline(PipelineOf(program), context)
    pieces = [
        Piece(f"<p><code>{markup(ran.text)}</code></p>" if ran.text else ""),
        Piece(_list(ran, is_timed=is_timed)),
    ]
    for stage in ran.stages[1:]:
        if context.is_cancelled():
            raise RunError((Diagnostic("VM008", "cancelled while the report was written"),))
        context.report(Progress(f"Writing what {stage.name} did", stage.index, len(ran.stages) - 1))
        if _says_something(stage):
            pieces += _stage(program, stage, drawings, context)
    pieces += _end(program, ran.stages[-1], entry, drawings, context)
    if program.tables:
        pieces.append(Piece(_regions(program, context), "the report of compiler regions", Rank.TEXT))
    return ReportSection(NAME, "Passes", tuple(pieces), has_parts=True, has_errors=ran.stages[-1].is_failed)


def _says_something(stage: Stage) -> bool:
    return bool(stage.is_changed or stage.remark_count or stage.problems)


def _list(ran: Pipeline, *, is_timed: bool) -> str:
    heads = ("", "Pass", "Text", "Rewrites", "Remarks", *(("ms",) if is_timed else ()))
    rows = (_row(stage, is_timed=is_timed) for stage in ran.stages)
    return table(heads, rows, "The passes, in order", figures=(0, 3, 4, 5))


def _row(stage: Stage, *, is_timed: bool) -> tuple[str, ...]:
    name = f"<code>{markup(stage.name)}</code>"
    if stage.index and _says_something(stage):
        name = f'<a href="#stage-{stage.index}">{name}</a>'
    counts = (f"{stage.rewrite_count:,}", f"{stage.remark_count:,}") if stage.index else ("", "")
    time = f"{stage.seconds * 1000:.1f}" if stage.seconds >= 0 and stage.index else ""
    return (str(stage.index), name, _change(stage), *counts, *((time,) if is_timed else ()))


def _change(stage: Stage) -> str:
    if stage.is_failed:
        return chip("✕ failed", "error")
    if not stage.index:
        return ""
    if not stage.is_changed:
        return '<span class="g">unchanged</span>'
    return chip(f"~ {stage.change or f'+{stage.added_count} −{stage.removed_count}'}", "changed")


def _stage(program: Program, stage: Stage, drawings: Drawings, context: RequestContext) -> Iterator[Piece]:
    """Yield what one pass did; it is open if it changed something."""
    view = stage_views.stage(StageOf(program, stage.index), context)
    is_open = stage.is_changed or stage.is_failed
    summary = f"{stage.index} <code>{markup(stage.name)}</code> {_change(stage)}"
    yield Piece(part_start(summary, is_open=is_open, name=f"stage-{stage.index}"))
    yield Piece(_told(stage, view), f"what {stage.name} says of itself", Rank.TEXT)
    if stage.is_changed:
        yield Piece(difference(view.diff), f"the diff of {stage.name}", Rank.DIFF)
        yield drawings.draw(
            f"the graph before and after {stage.name}",
            lambda: stage_views.compare(CompareGraph(program, stage.index), context),
        )
    yield Piece(PART_END)


def _told(stage: Stage, view: StageView) -> str:
    detail = view.detail
    found = [f"<p>{said(detail.summary)}</p>"] if detail.summary else []
    if stage.problems:
        found.append(problems(stage.problems))
    if detail.remarks:
        shown = "".join(
            f'<li><span class="g">{item.kind}</span> {said(item.message)}{_line(item.line)}</li>'
            for item in detail.remarks[:_REMARKS]
        )
        found.append(f"<ul>{shown}</ul>{_more(len(detail.remarks), _REMARKS, 'remark')}")
    if detail.rewrites:
        rows = (
            (str(item.number), _code(item.before), _code(item.after), _code(item.rule), _line(item.line))
            for item in detail.rewrites[:_REWRITES]
        )
        told = table(("", "Before", "After", "Rule", "Line"), rows, f"Rewrites of {stage.name}", figures=(0,))
        more = _more(detail.rewrite_count, _REWRITES, "rewrite")
        found.append(part(f"{plural(detail.rewrite_count, 'rewrite')}", told + more))
    return "".join(found)


def _code(text: str) -> str:
    return f"<code>{markup(text)}</code>" if text else ""


def _line(line: int) -> str:
    return f' <a href="#source-{line}">line {line}</a>' if line else ""


def _more(count: int, limit: int, noun: str) -> str:
    return f"<p>The first {limit} of {plural(count, noun)} are told.</p>" if count > limit else ""


def _end(program: Program, last: Stage, entry: str, drawings: Drawings, context: RequestContext) -> Iterator[Piece]:
    """Yield the module as the passes leave it."""
    view = stage_views.stage(StageOf(program, last.index), context)
    yield Piece("<h3>After the last pass</h3>" if not last.is_failed else "<h3>Before the pass that failed</h3>")
    text = part("Text", listing(view.after))
    yield Piece(text, "the text after the last pass", Rank.WHOLE)
    if entry:
        yield drawings.draw(
            f"the graph of @{entry} after the last pass",
            lambda: stage_views.graph(GraphOf(program, last.index, entry), context),
        )


def _regions(program: Program, context: RequestContext) -> str:
    """Write the compiler regions that the tables of the program make of its source."""
    asked = RegionReportOf(program)
    opened = context.opened_by(partition_view.partitioning(asked, context.opened_by(program)))
    report = partition_view.report_of(asked, opened, context.report, context.is_cancelled)
    return f"<h3>Compiler regions</h3>{block(report.to_text())}"
