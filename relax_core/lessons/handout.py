"""A lesson on paper: one HTML file with its text, programs and questions, and the answers if a teacher wants them."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from markdown_it import MarkdownIt

from relax_core.engine.samples import SAMPLES
from relax_core.lessons.checking import Answered
from relax_core.lessons.model import Do, Explain, Fix, Lesson, Look, Predict, Step
from relax_core.lessons.screens import sample_path
from relax_core.present.escape import markup

_VALUE: Final = re.compile(r"\{\{.+?\}\}")
_BLANK: Final = "\\_\\_\\_\\_\\_\\_"
"""What a student fills in where a step shows a value of the run."""
_STYLE: Final = """
body{font:11pt/1.45 Inter,"DejaVu Sans",sans-serif;color:#1a2129;max-width:46em;margin:2em auto;padding:0 1em}
h1{font-size:20pt;margin-bottom:.2em} h2{font-size:14pt;margin:1.6em 0 .3em} .about{color:#45505c}
pre{font:9pt/1.5 "DejaVu Sans Mono",monospace;background:#f4f6f8;border:1px solid #dde2e7;padding:.7em;overflow-x:auto;
counter-reset:line;white-space:pre-wrap} code{font-family:"DejaVu Sans Mono",monospace;font-size:.9em}
.ask{border-left:3px solid #3d4fc4;padding:.1em 0 .1em .9em;margin:.8em 0;break-inside:avoid}
.ask ul{list-style:none;padding:0} .ask li::before{content:"☐ "} .line{border-bottom:1px solid #8a95a1;height:1.9em}
section{break-inside:avoid-page} .answers{break-before:page} h2 small{font-weight:400;color:#5f6a76}
@page{margin:16mm 18mm}
@media print{body{margin:0;max-width:none;font-size:10.5pt} pre,.ask{break-inside:avoid} h2{break-after:avoid}}
"""


def handout(folder: Path, lesson: Lesson, answers: tuple[Answered, ...] = ()) -> str:
    """Return a lesson as an HTML file of its own that a browser prints; with `answers` these stand on a last page."""
    steps = "".join(_steps(folder, lesson))
    about = f"{lesson.about} {lesson.minutes} minutes, {lesson.points} points."
    parts = [
        f"<h1>{markup(lesson.title)}</h1>",
        f'<p class="about">{markup(about)}</p><p>Name: <span class="line">{"&nbsp;" * 60}</span></p>',
        html_of(lesson.introduction),
        steps,
        _answers(answers),
    ]
    head = f'<meta charset="utf-8"><title>{markup(lesson.title)}</title><style>{_STYLE}</style>'
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{"".join(parts)}</body></html>\n'


def html_of(text: str) -> str:
    """Write Markdown as HTML, in which HTML of the text is shown as text."""
    return MarkdownIt("commonmark", {"html": False}).enable("table").render(_VALUE.sub(lambda _: _BLANK, text))


def inline_html(text: str) -> str:
    """Write one line of Markdown as HTML."""
    return MarkdownIt("commonmark", {"html": False}).renderInline(_VALUE.sub(lambda _: _BLANK, text))


def _steps(folder: Path, lesson: Lesson) -> Iterator[str]:
    printed = ""
    for number, step in enumerate(lesson.steps, 1):
        program = step.shown.program
        text = html_of(step.text) + (listing(folder, program) if program != printed else "")
        printed = program
        yield f"<section><h2>{number}. {markup(step.title)}</h2>{text}{_asked(step)}</section>"


def listing(folder: Path, program: str) -> str:
    """Return the text of a program, with the numbers of its lines."""
    lines = (SAMPLES / sample_path(folder, program)).read_text(encoding="utf-8").rstrip().split("\n")
    numbered = "\n".join(f"{number:3}  {line}" for number, line in enumerate(lines, 1))
    return f"<pre>{_markup_lines(numbered)}</pre>"


def _markup_lines(text: str) -> str:
    """Escape a text of several lines for HTML."""
    return "\n".join(map(markup, text.split("\n")))


def _asked(step: Step) -> str:
    match step.exercise:
        case Predict(ask=ask, choices=choices, options=options) as exercise:
            rows = "".join(f"<li>{inline_html(option.replace(' | ', ': '))}</li>" for option in options)
            field = f"<ul>{rows}</ul>" if choices and exercise.answer_kind == "choice" else '<div class="line"></div>'
            return _question(
                "Predict", ask, f"<p>{markup(', '.join(choices))}</p>{field}" if _is_order(step) else field
            )
        case Look(ask=ask):
            return _question("Look at", ask)
        case Do(ask=ask):
            return _question("Do", ask)
        case Fix(ask=ask):
            return _question("Fix", ask, '<div class="line"></div>' * 4)
        case Explain(ask=ask):
            return _question("Explain", ask, '<div class="line"></div>' * 3)
        case None:
            return ""


def _is_order(step: Step) -> bool:
    return isinstance(step.exercise, Predict) and step.exercise.answer_kind == "order"


def _question(kind: str, ask: str, field: str = "") -> str:
    return f'<div class="ask">{html_of(f"**{kind}**  {ask}")}{field}</div>'


def _answers(answers: tuple[Answered, ...]) -> str:
    rows = [
        f"<p><b>{item.step}. {markup(item.title)}</b><br><code>{markup(item.answer)}</code></p>"
        for item in answers
        if item.answer
    ]
    return f'<section class="answers"><h2>Answers</h2>{"".join(rows)}</section>' if rows else ""
