"""A report of a program: what the pages show of it, gathered into one file."""

from collections.abc import Callable, Iterator
from typing import Final

from relax_core.diagnostics import DiagnosedError
from relax_core.engine.debug.request_context import RequestContext
from relax_core.engine.places import ROOT
from relax_core.engine.protocol import Progress, ReportOf, SourceView
from relax_core.engine.replies import ReportFile
from relax_core.engine.reporting.again import command_of, unrepeated
from relax_core.engine.reporting.drawing import Drawings
from relax_core.engine.reporting.running import run_section
from relax_core.engine.reporting.source import facts_of, source_section
from relax_core.engine.reporting.stages import stages_section
from relax_core.engine.reporting.versions import versions
from relax_core.engine.screens.source_view import source_view
from relax_core.present.escape import markup
from relax_core.present.problems import problems_of
from relax_core.present.report.elements import block, bullets, chip, pairs, problems
from relax_core.present.report.notes import notes
from relax_core.present.report.page import REPORT_BYTES, Report, ReportSection, whole
from relax_core.present.report.pieces import Piece, Rank

_TITLES: Final = (("passes", "Passes"), ("run", "Run"))


def report_file(message: ReportOf, context: RequestContext) -> ReportFile:
    """Write a report; what cannot be told of the program is told as the diagnostics that say why."""
    program = message.program
    context.report(Progress("Reading the text"))
    view = source_view(context.opened_by(program))
    limit = message.limit_bytes or REPORT_BYTES
    drawings = Drawings(limit)
    makers: dict[str, Callable[[], ReportSection]] = {
        "source": lambda: source_section(program, view, drawings, context),
        "passes": lambda: stages_section(program, view.first_function, drawings, context, is_timed=bool(message.date)),
        "run": lambda: run_section(program, view, context),
    }
    sections = [_notes(message.notes)] if message.notes.strip() else []
    sections += [_told(name, make, context) for name, make in makers.items() if name in message.parts]
    made = Report(program.name, _facts(message, view), tuple(sections), report_script(), tuple(_about(message)), limit)
    written = whole(made)
    return ReportFile(written.html, written.left_out, any(item.has_errors for item in sections))


def _told(name: str, make: Callable[[], ReportSection], context: RequestContext) -> ReportSection:
    """Return a section; why there is none, if the program does not come so far."""
    try:
        return make()
    except DiagnosedError as error:
        if context.is_cancelled():
            raise
        found = problems(problems_of(error.diagnostics), "source")
        title = dict(_TITLES).get(name, name.capitalize())
        return ReportSection(
            name, title, (Piece(f"<p>There is nothing to show, because:</p>{found}"),), has_errors=True
        )


def _notes(text: str) -> ReportSection:
    return ReportSection("notes", "Notes", (Piece(f'<div class="notes">{notes(text)}</div>', "the notes", Rank.TEXT),))


def _facts(message: ReportOf, view: SourceView) -> tuple[str, ...]:
    date = (chip(message.date),) if message.date else ()
    return (*facts_of(view), *date)


def report_script() -> str:
    """Return the script of reports, which is built with the components of the pages."""
    (path,) = (ROOT / "static").glob("report-*.js")
    # Within a string of JavaScript both are the same, and nothing else of it may spell the end of its element.
    return path.read_text(encoding="utf-8").replace("</script", "<\\/script")


def _about(message: ReportOf) -> Iterator[Piece]:
    program = message.program
    yield Piece(
        pairs(
            (
                ("Made by", markup(versions())),
                ("Passes", f"<code>{markup(program.pipeline)}</code>" if program.pipeline else "the default pipeline"),
            )
        )
    )
    yield Piece(f"<h3>To make it again</h3>{block(message.command or command_of(program))}")
    if missing := tuple(unrepeated(program)):
        yield Piece(f"<p>The command does not say all of it:</p>{bullets(missing)}")
