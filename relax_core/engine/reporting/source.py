"""The source in a report: its text, what is wrong with it, its graphs, and the devices of a Relay module."""

from collections.abc import Iterator
from typing import Final

from relax_core.diagnostics import DiagnosedError, plural
from relax_core.engine.debug.request_context import RequestContext
from relax_core.engine.protocol import DevicesOf, GraphOf, Program, SourceView
from relax_core.engine.reporting.drawing import Drawings
from relax_core.engine.screens import devices_view, stage_views
from relax_core.present.escape import markup
from relax_core.present.regions.target_marks import NONE, category_of
from relax_core.present.report.elements import PART_END, block, chip, part, part_start, problems, sign
from relax_core.present.report.page import ReportSection
from relax_core.present.report.pictures import Colours
from relax_core.present.report.pieces import Piece, Rank
from relax_core.present.report.texts import listing

NAME: Final = "source"
_GRAPHS: Final = 12


def facts_of(view: SourceView) -> tuple[str, ...]:
    """Return what the head of the report says of the program."""
    status = view.status
    if status.error_count:
        verdict = chip(f"✕ {plural(status.error_count, 'error')}", "error")
    else:
        verdict = chip("✓ well-formed" if status.is_well_formed else "no module", "ok" if status.is_well_formed else "")
    warnings = (chip(f"▲ {plural(status.warning_count, 'warning')}", "warning"),) if status.warning_count else ()
    told = (text for text in (view.dialect, view.summary) if text)
    return (verdict, *warnings, *map(chip, told), chip(f"module {status.module_hash}"))


def source_section(program: Program, view: SourceView, drawings: Drawings, context: RequestContext) -> ReportSection:
    """Tell of the source."""
    code = view.code
    found = (
        problems(code.problems, NAME) if code.problems else f"<p>{sign('ok')} No problem, and nothing to remark.</p>"
    )
    pieces = [
        Piece(f"<h3>Well-formedness and lint</h3>{found}"),
        Piece(f"<h3>Text</h3>{listing(code, NAME)}", "the text of the source", Rank.TEXT),
        *_graphs(program, view, drawings, context),
        *_devices(program, view, drawings, context),
    ]
    return ReportSection(NAME, "Source", tuple(pieces), has_errors=not view.status.is_well_formed)


def _graphs(program: Program, view: SourceView, drawings: Drawings, context: RequestContext) -> Iterator[Piece]:
    first = view.first_function
    names = [first, *(name for name in view.functions if name != first)] if first else []
    yield Piece("<h3>Graphs</h3>" if names else "")
    for name in names[:_GRAPHS]:
        drawn = drawings.draw(
            f"the graph of @{name}",
            lambda name=name: stage_views.graph(GraphOf(program, 0, name), context),
        )
        yield from _in_part(f"@{name}", drawn, is_open=name == first)
    if len(names) > _GRAPHS:
        yield Piece(f'<p class="left">Not drawn: the graphs of {plural(len(names) - _GRAPHS, "more function")}.</p>')


def _in_part(title: str, piece: Piece, *, is_open: bool) -> Iterator[Piece]:
    """Yield a piece within a part, so that the part stays where the piece is left out."""
    start = part_start(f"<code>{markup(title)}</code>", is_open=is_open)
    yield from (Piece(start), piece, Piece(PART_END))


def _devices(program: Program, view: SourceView, drawings: Drawings, context: RequestContext) -> Iterator[Piece]:
    """Yield the devices of a Relay module, where there are several."""
    if view.code.language != "relay" or not view.status.is_well_formed:
        return
    try:
        planned = devices_view.devices_view(DevicesOf(program), context.opened_by(program))
    except DiagnosedError:
        # Only a module that can be planned has devices to show; what is wrong with it stands above.
        return
    names = planned.report.devices
    if len(names) < 2:
        return
    legend = [(category_of(name, names), name) for name in names]
    if any(not mark.device for mark in planned.marks):
        legend.append((NONE, "no device"))
    colours = Colours({mark.node: category_of(mark.device, names) for mark in planned.marks}, tuple(legend))
    name = view.first_function
    yield Piece("<h3>Devices</h3>")
    yield drawings.draw(
        f"the graph of @{name} by devices", lambda: stage_views.graph(GraphOf(program, 0, name), context), colours
    )
    yield Piece(part("Devices, copies and why", block(planned.report.to_text())), "the report of devices", Rank.TEXT)
