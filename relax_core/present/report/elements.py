"""The HTML elements of a report; every text of a user's goes through `markup`."""

from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise
from typing import Final

from relax_core.present.escape import markup
from relax_core.present.models import Problem, Token
from relax_core.present.theme import TOKENS

PART_END: Final = "</details>"


def said(text: str) -> str:
    """Write a message as HTML, in which what stands between backticks is code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        # A backtick without another one is no mark of code.
        parts[-2:] = ["`".join(parts[-2:])]
    shown = (" ".join(map(markup, part.splitlines())) for part in parts)
    return "".join(f"<code>{part}</code>" if number % 2 else part for number, part in enumerate(shown))


def block(text: str) -> str:
    """Write a text of several lines as it is."""
    return f"<pre>{markup_lines(text)}</pre>"


def markup_lines(text: str) -> str:
    """Escape a text of several lines, which stays one."""
    return "\n".join(map(markup, text.split("\n")))


def chip(text: str, tone: str = "") -> str:
    """Write a small label."""
    return f'<span class="chip{f" {tone}" if tone else ""}">{said(text)}</span>'


def sign(mark: str) -> str:
    """Write the sign of a change or a state."""
    return f'<b class="sign {mark}" aria-hidden="true">{TOKENS.marks[mark].sign}</b>'


def part(summary: str, content: str, *, is_open: bool = False, name: str = "") -> str:
    """Write a part that opens and closes; `summary` and `content` are HTML."""
    return f"{part_start(summary, is_open=is_open, name=name)}{content}{PART_END}"


def part_start(summary: str, *, is_open: bool = False, name: str = "") -> str:
    """Write where a part begins, for one whose content is several pieces; `PART_END` ends it."""
    place = f' id="{name}"' if name else ""
    return f"<details{place}{' open' if is_open else ''}><summary>{summary}</summary>"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], label: str, *, figures: Sequence[int] = ()) -> str:
    """Write a table that scrolls sideways where it is too wide; cells are HTML, `figures` the columns of numbers."""

    def cells(tag: str, row: Sequence[str]) -> str:
        kind = dict.fromkeys(figures, ' class="r"')
        scope = ' scope="col"' if tag == "th" else ""
        return "".join(f"<{tag}{scope}{kind.get(place, '')}>{cell}</{tag}>" for place, cell in enumerate(row))

    head = f"<tr>{cells('th', tuple(map(markup, heads)))}</tr>"
    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    inside = f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"
    return f'<div class="wide" tabindex="0" role="region" aria-label="{markup(label)}">{inside}</div>'


def pairs(rows: Iterable[tuple[str, str]]) -> str:
    """Write labels with their values, which are HTML."""
    return f"<dl>{''.join(f'<dt>{markup(label)}</dt><dd>{value}</dd>' for label, value in rows)}</dl>"


def bullets(items: Iterable[str]) -> str:
    """Write messages as a list."""
    return f"<ul>{''.join(f'<li>{said(item)}</li>' for item in items)}</ul>"


def problems(found: Iterable[Problem], place: str = "") -> str:
    """Write diagnostics; their lines are links into the listing that `place` names."""
    return f'<ul class="problems">{"".join(_problem(item, place) for item in found)}</ul>'


def _problem(item: Problem, place: str) -> str:
    line = f"line {item.line}:{item.column}" if item.line else ""
    where = f'<a href="#{place}-{item.line}">{line}</a> ' if line and place else f"{line} "
    hint = f"<p>hint: {said(item.hint)}</p>" if item.hint else ""
    seen = "".join(f"<p>line {other.line}: {said(other.message)}</p>" for other in item.related)
    code = f'<b class="{item.severity}">{item.severity}[{markup(item.code)}]</b>'
    return f"<li>{sign(item.severity)} {where}{code} {said(item.message)}{hint}{seen}</li>"


def coloured(tokens: Iterable[Token], underlined: Collection[tuple[int, int]] = ()) -> str:
    """Write the tokens of a line; what of it lies in ranges of `underlined` is underlined."""
    written: list[str] = []
    start = 0
    for token in tokens:
        end = start + len(token.text)
        places = sorted({start, end, *(place for ends in underlined for place in ends if start < place < end)})
        for first, last in pairwise(places):
            is_underlined = any(since <= first and last <= until for since, until in underlined)
            written.append(_token(token.text[first - start : last - start], token.syntax, is_underlined=is_underlined))
        start = end
    return "".join(written)


def _token(piece: str, syntax: str, *, is_underlined: bool) -> str:
    text = f"<u>{markup(piece)}</u>" if is_underlined else markup(piece)
    return f'<span class="{syntax}">{text}</span>' if syntax else text
