"""The whole report: head, sections, the style and the one script that may run in it."""

import base64
import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Final

from relax_core.present.escape import markup
from relax_core.present.report.elements import bullets
from relax_core.present.report.pieces import Fitted, Piece, fitted
from relax_core.present.theme import DARK, LIGHT, TOKENS

LINES: Final = "source"
"""What the places of lines of the source begin with."""
REPORT_BYTES: Final = 1_950_000
"""What a report may take: a service that keeps files of 2 MB takes it."""


@dataclass(frozen=True, slots=True)
class ReportSection:
    """A part of the report that its head leads to."""

    name: str
    title: str
    pieces: tuple[Piece, ...]
    has_parts: bool = False
    """It has parts that open and close, with buttons for all of them."""
    has_errors: bool = False
    """It tells of what does not work."""


@dataclass(frozen=True, slots=True)
class Report:
    """What a report says, in order; `facts` are chips below its title, as HTML."""

    title: str
    facts: tuple[str, ...]
    sections: tuple[ReportSection, ...]
    script: str
    """The script that makes pictures graphs."""
    about: tuple[Piece, ...] = field(default=())
    """How it was made: the last section, which also says what was left out."""
    limit_bytes: int = REPORT_BYTES


def whole(report: Report) -> Fitted:
    """Write a report as HTML that loads nothing: its policy forbids the browser to, and runs no script but its own."""
    head = _head(report)
    pieces = [Piece(_opening(report))]
    for section in report.sections:
        pieces += _section(section)
    script = f'<script type="module">{report.script}</script>'

    def written(body: Fitted) -> str:
        return f"{head}<body>{body.html}{_about(report.about, body)}</main>{script}</body></html>\n"

    body = _fitting(pieces, report.limit_bytes - len(written(Fitted("")).encode()))
    return Fitted(_without_dead_links(written(body)), body.left_out)


def _fitting(pieces: Sequence[Piece], room: int) -> Fitted:
    """Leave out what has no room; what is left out is listed, and the list takes room as well."""
    body, listed = fitted(pieces, room), 0
    while body.left_out and listed < (needed := len(bullets(body.left_out).encode())):
        listed = needed
        body = fitted(pieces, room - listed)
    return body


def _without_dead_links(html: str) -> str:
    """Write the links to lines as text if the source is not in the report, or was left out."""
    return html if f'id="{LINES}-1"' in html else re.sub(rf'<a href="#{LINES}-\d+">(.*?)</a>', r"\1", html)


def _head(report: Report) -> str:
    # A script is allowed by its digest, so that none that a name of the program might smuggle in would run.
    digest = base64.b64encode(hashlib.sha256(report.script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">'
        f"<title>{markup(report.title)}</title><style>{_style()}</style></head>"
    )


def _style() -> str:
    colours = "".join(f"--{name}:light-dark({LIGHT[name]},{DARK[name]});" for name in LIGHT)
    fonts = f"--mono:{TOKENS.font['mono']};--ui:{TOKENS.font['ui']}"
    rules = files("relax_core.present.report").joinpath("report.css").read_text(encoding="utf-8")
    return f":root{{{colours}{fonts}}}\n{rules}"


def _opening(report: Report) -> str:
    named = [(section.name, section.title) for section in report.sections] + [("about", "About this report")]
    links = "".join(f'<a href="#{name}">{markup(title)}</a>' for name, title in named)
    chips = f'<div class="chips">{"".join(report.facts)}</div>'
    nav = f'<nav aria-label="Sections">{links}</nav>'
    return f"<header><h1>{markup(report.title)}</h1>{chips}{nav}</header><main>"


def _section(section: ReportSection) -> Iterable[Piece]:
    buttons = '<span class="all"></span>' if section.has_parts else ""
    head = f'<section id="{section.name}"><h2>{markup(section.title)}{buttons}</h2>'
    return (Piece(head), *section.pieces, Piece("</section>"))


def _about(about: Sequence[Piece], body: Fitted) -> str:
    missing = bullets(body.left_out) if body.left_out else "<p>Nothing was left out for its size.</p>"
    told = "".join(piece.html for piece in about)
    return f'<section id="about"><h2>About this report</h2>{told}<h3>Left out</h3>{missing}</section>'
