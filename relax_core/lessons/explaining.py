"""What is selected, in plain words: a paragraph from what the inspector knows, and the lessons that tell more."""

import re
from collections.abc import Mapping
from typing import Final

from relax_core.codes import CODES
from relax_core.lessons.library import LessonFile, list_lessons
from relax_core.passes import library
from relax_core.present.catalog_of.catalog_models import GLOSSARY, Explanation
from relax_core.present.models import Inspector, InspectorRow, Part

_NAME: Final = re.compile(r"\b[A-Z]{2}\d{3}\b|(?<=`)[A-Za-z_]\w*(?=[`(])")
"""What may be a code, and what is set as code and may be a pass."""
_UNCHANGED: Final = "unchanged"
_MOST_LESSONS: Final = 4
_FORMS: Final = ("Bytecode", "Kernel")
"""Forms of a program in a life that no pass makes."""


def explained_node(found: Inspector) -> str:
    """Tell in a paragraph what a node is, who uses it, and what passes do with it; code stands between backticks."""
    rows = {row.label: _words(row.value) for section in found.sections[:1] for row in section.rows}
    tables = {section.title: section.rows for section in found.sections[1:]}
    sentences = [
        _what(found, rows),
        _where(rows),
        _users(next((part for title, part in tables.items() if title.startswith("Used by")), ())),
        _life(next((part for title, part in tables.items() if title.startswith("Life")), ())),
        *(f"{title}: {_sentence(part)}" for title, part in tables.items() if title == "Why"),
    ]
    return " ".join(filter(None, sentences))


def lessons_about(*words: str) -> tuple[tuple[LessonFile, int], ...]:
    """Return the lessons that name one of some words, with the first step that does; those first that do so most."""
    found: list[tuple[int, int, LessonFile, int]] = []
    pattern = re.compile("|".join(rf"(?<!\w){re.escape(word)}(?!\w)" for word in words if word) or "(?!)")
    for place, file in enumerate(list_lessons()):
        steps = () if file.lesson is None else file.lesson.steps
        texts = [file.source.text[step.at.start : _end(file, number)] for number, step in enumerate(steps)]
        counts = [len(pattern.findall(text)) for text in texts]
        if any(counts):
            first = next(number for number, count in enumerate(counts, 1) if count)
            found.append((-sum(counts), place, file, first))
    return tuple((file, step) for _, _, file, step in sorted(found, key=lambda item: item[:2])[:_MOST_LESSONS])


def names_in(text: str) -> tuple[str, ...]:
    """Return the diagnostic codes that a text names, and the passes that it sets as code, in their order."""
    passes = {name for _, name in library.PASSES}
    return tuple(dict.fromkeys(name for name in _NAME.findall(text) if name in CODES or name in passes))


def lessons_on(item: Explanation) -> tuple[tuple[LessonFile, int], ...]:
    """Return the lessons that name what is explained; a name that is a common word counts where it is set as code."""
    if item.kind == GLOSSARY:
        return lessons_about(*item.name.split(", "))
    return lessons_about(f"`{item.name}`" if item.name.isalpha() and item.name.islower() else item.name)


def _end(file: LessonFile, number: int) -> int:
    steps = () if file.lesson is None else file.lesson.steps
    return steps[number + 1].at.start if number + 1 < len(steps) else len(file.source.text)


def operator_of(found: Inspector) -> str:
    """Return the operator of a selected call as programs write it, such as `R.matmul`; empty for other nodes."""
    rows = {row.label: row.value for section in found.sections[:1] for row in section.rows}
    name = rows["Operator"][0].text if rows.get("Operator") else ""
    return f"R.{name.removeprefix('relax.')}" if name.startswith("relax.") else name


def _what(found: Inspector, rows: Mapping[str, str]) -> str:
    chip = found.chips[0].text if found.chips else ""
    operator, kind = operator_of(found), rows.get("Type", "").partition(" (")[0]
    of = f" of type `{kind}`" if kind else ""
    if not operator:
        return f"`{found.title}` is {_article(chip or 'value')}{of}."
    summary, effects = rows["Operator"].partition(" ")[2].rstrip("."), rows.get("Effects", "")
    sentences = [
        f"`{found.title}` is what `{operator}` returns: {summary[:1].lower()}{summary[1:]}.",
        f"It is a value{of}." if of else "",
        "It has no effects but its result." if effects == "none" else f"Its effects: {effects}." if effects else "",
    ]
    return " ".join(filter(None, sentences))


def _article(noun: str) -> str:
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"


def _where(rows: Mapping[str, str]) -> str:
    parts = [f"It is defined in {rows['Defined']}" if rows.get("Defined") else ""]
    if rows.get("Device"):
        parts.append(f"lies on {rows['Device']}")
    text = " and ".join(filter(None, parts))
    return f"{text}." if text else ""


def _users(rows: tuple[InspectorRow, ...]) -> str:
    users = [f"`{_words(row.value)}`" + (f" in {row.detail}" if row.detail else "") for row in rows]
    if not users:
        return "Nothing in the program reads it."
    return f"It is read by {', '.join(users[:-1])}{' and ' if users[:-1] else ''}{users[-1]}."


def _life(rows: tuple[InspectorRow, ...]) -> str:
    names = dict.fromkeys(row.label for row in rows[1:] if row.label and row.detail != _UNCHANGED)
    changed = [f"`{name}`" for name in names if name not in _FORMS]
    if not changed:
        return "No pass of the pipeline changes it." if rows else ""
    verb = "changes" if len(changed) == 1 else "change"
    return f"Of the pipeline's passes {', '.join(changed)} {verb} what computes it."


def _sentence(rows: tuple[InspectorRow, ...]) -> str:
    return " ".join(_words(row.value) for row in rows)


def _words(parts: tuple[Part, ...]) -> str:
    return re.sub(r"\s+(?=,)", "", " ".join(filter(None, (part.text.strip() for part in parts))))
