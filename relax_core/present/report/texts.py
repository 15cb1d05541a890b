"""Texts of a report: a listing with the numbers of its lines, and two texts side by side."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from relax_core.diagnostics import plural
from relax_core.present.code import code_lines, tokenize
from relax_core.present.escape import markup
from relax_core.present.models import Code, CodeLine, Diff, DiffSide, Problem, Token
from relax_core.present.report.elements import coloured
from relax_core.present.theme import TOKENS

_SEVERITIES: Final = ("error", "warning", "note")


def listing(code: Code, name: str = "") -> str:
    """Write a text with numbered lines, those with a problem marked; `name` makes each line a place of its own."""
    lines = code.lines or code_lines(code.text, code.language)
    worst = _worst(code.problems)
    body = "".join(_line(line, name, worst.get(line.number, "")) for line in lines)
    return f'<div class="code">{body}</div>'


def _worst(problems: Iterable[Problem]) -> dict[int, str]:
    """Map each line to the severest of its problems."""
    found: dict[int, str] = {}
    for item in sorted(problems, key=lambda item: _SEVERITIES.index(item.severity)):
        found.setdefault(item.line, item.severity)
    return found


def _line(line: CodeLine, name: str, severity: str) -> str:
    place = f' id="{name}-{line.number}"' if name and line.number else ""
    look = f"{' dim' if line.is_dim else ''}{f' {severity}' if severity else ''}"
    mark = TOKENS.marks[severity].sign if severity else ""
    number = f"<i>{line.number or ''}</i><b>{mark}</b>"
    return f'<div class="l{look}"{place}>{number}<code>{coloured(line.tokens)}</code></div>'


def difference(diff: Diff) -> str:
    """Write two texts side by side, or in turn where there is little room; of unchanged lines those near a change."""
    titles = f'<div class="t">{markup(diff.before_title)}</div><div class="t">{markup(diff.after_title)}</div>'
    return f'<div class="code diff">{titles}{"".join(_rows(diff))}</div>'


def _rows(diff: Diff) -> Iterator[str]:
    folded = {fold.first: fold.count for fold in diff.folds}
    befores, afters = _tokens([row.before for row in diff.rows], diff), _tokens([row.after for row in diff.rows], diff)
    place = 0
    while place < len(diff.rows):
        count = folded.get(place, 0)
        if count:
            yield f'<div class="fold">{plural(count, "unchanged line")}</div>'
        else:
            before, after = diff.rows[place].before, diff.rows[place].after
            is_same = before is not None and after is not None and after.mark == "unchanged"
            yield _side(before, befores[place], " same" if is_same else "") + _side(after, afters[place], "")
        place += max(count, 1)


def _tokens(sides: Sequence[DiffSide | None], diff: Diff) -> tuple[tuple[Token, ...], ...]:
    """Cut one text of a difference into tokens, row by row; a row that lacks a line of it has none."""
    found = iter(tokenize("\n".join(side.text for side in sides if side is not None), diff.language))
    return tuple(next(found) if side is not None else () for side in sides)


def _side(side: DiffSide | None, tokens: tuple[Token, ...], also: str) -> str:
    if side is None:
        return '<div class="l filler"></div>'
    mark = "" if side.mark == "unchanged" else side.mark
    shown = TOKENS.marks[mark].sign if mark else ""
    number = f"<i>{side.number or ''}</i><b>{shown}</b>"
    return f'<div class="l {mark}{also}">{number}<code>{coloured(tokens, side.differing)}</code></div>'
