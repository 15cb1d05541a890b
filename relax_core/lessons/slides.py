"""A lesson as slides: one HTML file, turned by keys, whose answers wait behind a key; printed a slide a page."""

from collections.abc import Iterator
from typing import Final

import msgspec

from relax_core.lessons.handout import html_of, inline_html, listing
from relax_core.lessons.judging import filled, right_answer
from relax_core.lessons.library import LessonFile
from relax_core.lessons.model import Do, Explain, Fix, Lesson, Look, Predict, Step
from relax_core.lessons.screens import Ask, program_of, sample_path
from relax_core.present.escape import markup

_STYLE: Final = """
:root{color-scheme:light dark;--text:light-dark(#10161c,#e6eaef);--grey:light-dark(#5f6a76,#8f9ba8)}
body{margin:0;font:25px/1.45 Inter,"DejaVu Sans",sans-serif;color:var(--text);background:light-dark(#fff,#14171b)}
section{display:none;box-sizing:border-box;min-height:100vh;padding:5vh 6vw;gap:3vw;align-content:start}
section.on{display:grid;grid-template-columns:1fr} section.two{grid-template-columns:1.1fr 1fr}
h1{font-size:62px;line-height:1.15;margin:18vh 0 .3em} h2{font-size:46px;line-height:1.2;margin:0 0 .5em}
p{margin:.5em 0} .kind,.about{color:var(--grey)}
.ask{font-size:38px;font-weight:600;line-height:1.3} .ask p{margin:.2em 0}
ol{list-style:upper-alpha;padding-left:1.4em;font-size:30px} li{padding:.25em 0}
code{font-family:"DejaVu Sans Mono",monospace;font-size:.9em}
pre{font:19px/1.5 "DejaVu Sans Mono",monospace;background:light-dark(#f4f6f8,#1b1f25);padding:.8em;margin:0}
pre{overflow:auto;white-space:pre-wrap;border-radius:8px;max-height:86vh}
.answer{border-left:5px solid light-dark(#0d7550,#5fd0a0);padding:.1em 0 .1em .8em;margin-top:1em}
html:not(.shown) .answer{visibility:hidden} .right{font-size:34px}
footer{position:fixed;right:1.5em;bottom:.8em;font-size:16px;color:var(--grey)}
@page{size:landscape;margin:12mm}
@media print{
body{font-size:17px} section,section.on{display:grid;break-after:page;min-height:0;padding:0}
h1{font-size:40px;margin-top:8vh} h2{font-size:28px} .ask{font-size:24px} ol,.right{font-size:20px} pre{font-size:12px}
html:not(.shown) .answer{visibility:visible} footer{display:none} pre{max-height:none}
}
"""
_SCRIPT: Final = """
const slides = [...document.querySelectorAll("section")], foot = document.querySelector("footer");
const all = document.documentElement.classList;
let at = 0;
function show(next) {
  at = Math.min(Math.max(next, 0), slides.length - 1);
  slides.forEach((slide, place) => slide.classList.toggle("on", place === at));
  all.remove("shown");
  foot.textContent = `${at + 1} of ${slides.length}`;
  history.replaceState(null, "", `#${at + 1}`);
}
const reveal = () => all.add("shown");
const turn = () => (slides[at].querySelector(".answer") && !all.contains("shown") ? reveal() : show(at + 1));
const keys = {
  ArrowRight: () => show(at + 1), ArrowLeft: () => show(at - 1), PageUp: () => show(at - 1), Home: () => show(0),
  End: () => show(slides.length), PageDown: turn, " ": turn, Enter: reveal,
};
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || !keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
});
addEventListener("click", turn);
show((Number(location.hash.slice(1)) || 1) - 1);
"""


def slides(file: LessonFile, lesson: Lesson, ask: Ask) -> str:
    """Return a lesson as an HTML file of its own, with the answers and values that the engine computes.

    Raises:
        CompileError: EN033, an answer or a value cannot be computed.
    """
    about = f"{lesson.minutes} minutes. Space turns over and reveals, Enter reveals, the arrows go on and back."
    first = _slide(
        f'<h1>{markup(lesson.title)}</h1><p>{markup(lesson.about)}</p><p class="about">{markup(about)}</p>'
        f"{html_of(lesson.introduction)}"
    )
    body = first + "".join(_slides(file, lesson, ask))
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{markup(lesson.title)}</title><style>{_STYLE}</style>"
    )
    return (
        f'<!doctype html><html lang="en"><head>{head}</head><body><main>{body}</main><footer></footer>'
        f"<script>{_SCRIPT}</script></body></html>\n"
    )


def _slide(*columns: str) -> str:
    kind = ' class="two"' if len(columns) > 1 else ""
    return f"<section{kind}>{''.join(f'<div>{column}</div>' for column in columns)}</section>"


def _slides(file: LessonFile, lesson: Lesson, ask: Ask) -> Iterator[str]:
    shown = ""
    for number, step in enumerate(lesson.steps, 1):
        path = sample_path(file.folder, step.shown.program)
        text = html_of(filled(step.text, ask, program_of(file.folder, step.shown)))
        title, program = f"<h2>{number}. {markup(step.title)}</h2>", listing(file.folder, step.shown.program)
        if step.text.strip() or path != shown:
            yield _slide(title + text, program) if path != shown else _slide(title + text)
        shown = path
        if step.exercise is not None:
            yield _slide(_question(file, step, ask), program)


def _question(file: LessonFile, step: Step, ask: Ask) -> str:
    program, exercise = program_of(file.folder, step.shown), step.exercise
    if exercise is None:
        return ""
    kind = {"Look": "Look at"}.get(type(exercise).__name__, type(exercise).__name__)
    asked = f'<p class="kind">{kind}</p><div class="ask">{html_of(filled(exercise.ask, ask, program))}</div>'
    match exercise:
        case Predict(options=options, because=because):
            rows = "".join(f"<li>{inline_html(option.replace(' | ', ': '))}</li>" for option in options)
            right = f'<p class="right"><code>{markup(right_answer(exercise, ask, program))}</code></p>'
            return f"{asked}{f'<ol>{rows}</ol>' if rows else ''}{_answer(right, filled(because, ask, program))}"
        case Explain(because=because):
            return asked + _answer("", filled(because, ask, program))
        case Fix(because=because, solution=solution):
            mended = program_of(file.folder, msgspec.structs.replace(step.shown, program=solution))
            return asked + _answer(listing(file.folder, solution), filled(because, ask, mended))
        case Do(because=because):
            return asked + _answer("", filled(because, ask, program))
        case Look():
            return asked


def _answer(right: str, because: str) -> str:
    return f'<div class="answer">{right}{html_of(because)}</div>' if right or because else ""
