"""What a class projects, as HTML: how to join, the answers as they come, the timer, and where the browsers are.

What students and lessons wrote is escaped here.
"""

import math
from typing import Final

from relax_core.lessons.classroom import Classroom, spaced
from relax_core.lessons.model import Predict
from relax_core.lessons.tally import TallyRow, tally
from relax_core.present.escape import markup

_RING_SECONDS: Final = 60
_MOST_DOTS: Final = 40


def joining_board(known: Classroom, link: str, now: float, kind: str = "large") -> str:
    """Draw how to join: the link, the code, and how many are there."""
    count = len(known.present(now))
    here = "Nobody has joined yet" if not known.members else f"{count} here"
    return (
        f'<div class="joining {kind}"><p>{here}</p><p>Join at {markup(link)}</p>'
        f'<p class="code">{spaced(known.code)}</p></div>'
    )


def live_board(
    known: Classroom, exercise: Predict | None, *, right: str, link: str, now: float, is_hidden: bool
) -> str:
    """Draw the answers to the step, how many have answered, the timer, how to join, and where the browsers are.

    `right` is the right answer once it is revealed; with `is_hidden` the counts are not shown.
    """
    step = known.step
    present, answered = len(known.present(now)), known.answer_count(step)
    bars, done = "", f"<b>{present}</b> here"
    if exercise is not None:
        rows = tally(exercise, known.answers_to(step), right)
        # Of answers in words all are others until the right one is known.
        bars = _bars(() if exercise.answer_kind == "text" and not right else rows, answered, is_hidden=is_hidden)
        done = f"<b>{answered}</b> of {max(present, answered)} have answered"
    closed = "" if known.is_open(step, now) or step in known.revealed else ", answers are closed"
    foot = f'<p class="done">{done}{closed}</p>{_ring(known, now)}{joining_board(known, link, now, "small")}'
    return f'<div class="live">{bars}<div class="foot">{foot}</div>{_where(known, now)}</div>'


def _bars(rows: tuple[TallyRow, ...], total: int, *, is_hidden: bool) -> str:
    """Draw a bar for each answer, on one scale, with the count beside it."""
    lines: list[str] = []
    for number, row in enumerate(rows):
        share = 0 if is_hidden or not total else row.count / total
        kind, mark = ("right", "✓") if row.is_right else ("", chr(ord("A") + number))
        count = "" if is_hidden else f"<b>{row.count}</b><small>{share:.0%}</small>"
        words = f"<code>{markup(row.answer)}</code> <span>{markup(row.words)}</span>"
        lines.append(
            f'<li class="{kind}"><i>{mark}</i><div><p>{words}</p><div class="track"><div class="bar" '
            f'style="width:{share:.1%}"></div></div></div><p class="count">{count}</p></li>'
        )
    return f'<ol class="tally">{"".join(lines)}</ol>' if lines else ""


def _ring(known: Classroom, now: float) -> str:
    """Draw the timer, if it runs: the ring is a minute."""
    left = known.seconds_left(now)
    if left is None:
        return ""
    turn = math.tau * 40
    part = turn * min(1, left / _RING_SECONDS)
    circle = 'cx="48" cy="48" r="40" fill="none" stroke-width="7"'
    return (
        f'<div class="ring"><svg viewBox="0 0 96 96" width="96" height="96" aria-hidden="true"><circle class="rest" '
        f'{circle}/><circle class="left" {circle} stroke-dasharray="{part:.1f} {turn:.1f}" '
        f'transform="rotate(-90 48 48)"/></svg><b>{clock(left)}</b></div>'
    )


def _where(known: Classroom, now: float) -> str:
    """Say at which steps the browsers are."""
    at: dict[int, int] = {}
    for member in known.present(now):
        at[member.step] = at.get(member.step, 0) + 1
    places = (
        f"<li>{f'step {step}' if step else 'elsewhere'} {'●' * count if count <= _MOST_DOTS else ''} {count}</li>"
        for step, count in sorted(at.items())
    )
    return f'<ul class="where">{"".join(places)}</ul>'


def clock(seconds: int) -> str:
    """Write a time as a timer shows it."""
    return f"{seconds // 60}:{seconds % 60:02}"
