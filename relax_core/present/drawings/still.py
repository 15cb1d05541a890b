"""A diff and a run as still pictures: SVG in the light colours, with texts as texts."""

from collections.abc import Iterator
from typing import Final

from relax_core.diagnostics import plural
from relax_core.present.escape import markup, visible
from relax_core.present.measures import columns, cut
from relax_core.present.models import Diff, DiffRow, DiffSide, Mark
from relax_core.present.running.run_models import FlameSpan, Run
from relax_core.present.theme import LIGHT, TOKENS

ROW_LIMIT: Final = 2_000
"""So many rows of a diff, or lines of a run, are drawn."""
_COLUMNS: Final = 110
_COLUMN, _LINE, _GUTTER, _PAD = 6.9, 18, 60, 12
_HEAD: Final = 30
_FLAME_WIDTH: Final = 900
_LABELS: Final = 10
"""So many times are written below the calls of a run."""


def diff_svg(diff: Diff) -> str:
    """Draw the two texts of a diff beside each other, or one alone; long runs of unchanged lines are one row."""
    is_pair = bool(diff.after_title)
    rows = tuple(_rows(diff))
    texts = [side.text for row in rows if isinstance(row, DiffRow) for side in (row.before, row.after) if side]
    width = _GUTTER + _COLUMN * max(map(_width, (*texts, diff.before_title, diff.after_title))) + _PAD
    titles = (diff.before_title, diff.after_title) if is_pair else (diff.before_title,)
    parts = [_text(_PAD + place * width, 20, title, "text", weight=600) for place, title in enumerate(titles)]
    for number, row in enumerate(rows):
        top = _HEAD + number * _LINE
        if isinstance(row, str):
            parts += [_box(0, top, width * len(titles), "chrome"), _text(_GUTTER, top + 13, row, "text3")]
            continue
        sides = (row.before, row.after) if is_pair else (row.after or row.before,)
        for place, side in enumerate(sides):
            parts += _side(side, place * width, top, width)
    if is_pair:
        parts.append(f'<path d="M{width:.1f} 0V{_HEAD + len(rows) * _LINE}" stroke="{LIGHT["line2"]}"/>')
    title = " and ".join(titles)
    return _document(width * len(titles), _HEAD + len(rows) * _LINE + _PAD, title, parts)


def _rows(diff: Diff) -> Iterator[DiffRow | str]:
    """Yield the rows that are drawn, and words in place of folded ones."""
    folded = {fold.first: fold.count for fold in diff.folds}
    place = drawn = 0
    while place < len(diff.rows):
        if drawn == ROW_LIMIT:
            yield f"… and {len(diff.rows) - place:,} more"
            return
        count = folded.get(place, 0)
        yield f"… {plural(count, 'unchanged line')}" if count else diff.rows[place]
        place += count or 1
        drawn += 1


def _side(side: DiffSide | None, left: float, top: float, width: float) -> Iterator[str]:
    if side is None:
        yield _box(left, top, width, "raised")
        return
    look = TOKENS.marks[side.mark]
    if look.fill:
        yield _box(left, top, width, look.fill)
    start = left + _GUTTER
    for first, last in side.differing if look.token else ():
        at = start + _COLUMN * columns(visible(side.text[:first]))
        yield _box(at, top, _COLUMN * columns(visible(side.text[first:last])), look.token)
    if side.number:
        yield _text(left + 40, top + 13, str(side.number), "text3", anchor="end")
    if side.mark != "unchanged":
        yield _text(left + 46, top + 13, _sign(side.mark), look.color, weight=700)
    yield _text(start, top + 13, side.text, "text")


def _sign(mark: Mark) -> str:
    return TOKENS.marks[mark].sign


def run_svg(run: Run) -> str:
    """Draw the calls of a run over its time, and below them the text, with a bar beside the lines that ran."""
    deep = max((span.depth for span in run.flame), default=0) + 1
    scale = _FLAME_WIDTH / max(1, run.total)
    told = run.first_event + len(run.events)
    until = "" if told == run.total else f"; bars beside the lines that ran before time {told:,}"
    parts = [_text(_PAD, 20, f"{run.title}: {plural(run.total, 'event')}{until}", "text", weight=600)]
    for span in run.flame:
        parts += _call(span, scale)
    bottom = _HEAD + deep * (_LINE + 2)
    for place in range(_LABELS + 1):
        time = run.total * place // _LABELS
        # The last one ends where the picture does.
        anchor = "end" if place == _LABELS else "middle"
        parts.append(_text(_PAD + time * scale, bottom + 14, f"{time:,}", "text3", anchor=anchor))
    top = bottom + _HEAD
    lines = run.source[:ROW_LIMIT]
    ran = {event.line for event in run.events} | set(run.executed_lines)
    for place, line in enumerate(lines):
        y = top + place * _LINE
        if line.number in ran:
            parts.append(f'<rect x="46" y="{y + 2}" width="3" height="{_LINE - 4}" fill="{LIGHT["ok"]}"/>')
        if line.number:
            parts.append(_text(40, y + 13, str(line.number), "text3", anchor="end"))
        text = "".join(token.text for token in line.tokens)
        parts.append(_text(_GUTTER, y + 13, text, "text3" if line.is_dim else "text"))
    if len(run.source) > len(lines):
        parts.append(
            _text(_GUTTER, top + len(lines) * _LINE + 13, f"… and {len(run.source) - len(lines):,} more", "text3")
        )
    return _document(_FLAME_WIDTH + 2 * _PAD, top + (len(lines) + 1) * _LINE, run.title, parts)


def _call(span: FlameSpan, scale: float) -> Iterator[str]:
    left, top = _PAD + span.start * scale, _HEAD + span.depth * (_LINE + 2)
    width = max(1.0, (span.end - span.start) * scale - 1)
    fill, line = (f"{span.category}Bg", span.category) if span.category else ("raised", "line2")
    shape = f'x="{left:.1f}" y="{top}" width="{width:.1f}" height="{_LINE}" rx="3"'
    words = _shown(f"{span.label}, time {span.start} to {span.end}")
    yield f'<rect {shape} fill="{LIGHT[fill]}" stroke="{LIGHT[line]}"><title>{words}</title></rect>'
    room = int((width - 8) / _COLUMN)
    if room > 2:
        yield _text(left + 5, top + 13, cut(visible(span.label), room), span.category or "text2")


def _width(text: str) -> int:
    return min(columns(visible(text)), _COLUMNS)


def _shown(text: str) -> str:
    return markup(visible(text))


def _box(x: float, y: float, width: float, colour: str) -> str:
    return f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{_LINE}" fill="{LIGHT[colour]}"/>'


def _text(x: float, y: float, text: str, colour: str, *, anchor: str = "", weight: int = 0) -> str:
    """Write a line of text, cut to what a column has room for; its indentation is a place, which no reader drops."""
    shown = cut(visible(text), _COLUMNS)
    start = x + _COLUMN * (len(shown) - len(shown.lstrip(" ")))
    more = (f' text-anchor="{anchor}"' if anchor else "") + (f' font-weight="{weight}"' if weight else "")
    return f'<text x="{start:.1f}" y="{y:.1f}" fill="{LIGHT[colour]}"{more}>{markup(shown.lstrip(" "))}</text>'


def _document(width: float, height: float, title: str, parts: list[str]) -> str:
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    font = f'font-family="{TOKENS.font["mono"].replace(chr(34), "")}" font-size="11.5" style="white-space:pre"'
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" {font}>\n<title>{_shown(title)}</title>\n'
        f'<rect width="100%" height="100%" fill="{LIGHT["bg"]}"/>\n{body}\n</svg>\n'
    )
