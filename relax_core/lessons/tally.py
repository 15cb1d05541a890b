"""How a class answered a prediction: a row for each option, or for each answer that may be shown to others."""

import re
from collections import Counter
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from relax_core.lessons.judging import is_right, is_same
from relax_core.lessons.model import AnswerKind, Predict

_MOST_ROWS: Final = 6
_OTHERS: Final = "others"
_NUMBER: Final = r"[-+]?(?:\d{1,12}(?:\.\d{0,8})?(?:e[-+]?\d{1,3})?|nan|inf)"
_SIZE: Final = r"[\w*+ ]{1,7}"
_FORMS: Final = MappingProxyType(
    {
        "number": re.compile(_NUMBER, re.IGNORECASE),
        "line": re.compile(_NUMBER, re.IGNORECASE),
        "value": re.compile(_NUMBER, re.IGNORECASE),
        "shape": re.compile(rf"[(\[]?{_SIZE}(?:,{_SIZE}){{0,7}},?[)\]]?"),
    }
)
"""What an answer looks like of which nobody can make a message to the class."""


@dataclass(frozen=True, slots=True)
class TallyRow:
    """An answer, words about it, how many gave it, and whether it is right, which only a reveal says."""

    answer: str
    words: str
    count: int
    is_right: bool = False


def tally(exercise: Predict, answers: Counter[str], right: str = "") -> tuple[TallyRow, ...]:
    """Count answers by option, or by value; `right` is the right answer once it is revealed.

    Text that a student typed is not shown to others: what is no number or shape is counted among the others.
    """
    kind = exercise.answer_kind
    if kind == "choice":
        return tuple(
            TallyRow(choice, _words(option), answers[choice], bool(right) and is_right(kind, choice, right))
            for choice, option in zip(exercise.choices, exercise.options, strict=True)
        )
    shown: Counter[str] = Counter()
    for text, count in answers.items():
        if right and is_right(kind, text, right):
            shown[right] += count
        elif _may_be_shown(kind, text, exercise.choices):
            shown[next((known for known in shown if is_same(known, text)), text)] += count
        else:
            shown[_OTHERS] += count
    if right and right not in shown:
        shown[right] = 0
    kept = sorted((text for text in shown if text != _OTHERS), key=lambda text: (text != right, -shown[text], text))[
        :_MOST_ROWS
    ]
    others = sum(count for text, count in shown.items() if text not in kept)
    rows = [TallyRow(text, "", shown[text], bool(right) and text == right) for text in kept]
    return (*rows, TallyRow(_OTHERS, "", others)) if others else tuple(rows)


def _words(option: str) -> str:
    return option.partition(" | ")[2].strip()


def _may_be_shown(kind: AnswerKind, text: str, choices: tuple[str, ...]) -> bool:
    if kind == "order":
        return all(item.strip() in choices for item in text.split(","))
    form = _FORMS.get(kind)
    return form is not None and form.fullmatch(text.strip()) is not None
