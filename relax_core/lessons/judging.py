"""Whether an answer is right and a condition holds: what is compared is values that the engine computed."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

import msgspec

from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.engine.programs.program import Program
from relax_core.engine.protocol import Failure, PropertiesOf
from relax_core.lessons.model import AnswerKind, Explain, Predict, Shown
from relax_core.lessons.screens import Ask, program_of, values_of

_CONDITION: Final = re.compile(r"(.+?) (is that of|is not|is|at least|at most) (.+)", re.DOTALL)
_SIZE_OPERATOR: Final = re.compile(r"\s*([+*])\s*")
_BETWEEN: Final = re.compile(r"[\s,;()\[\]`\"']+")
_TIMES: Final = re.compile(r"(?<=\d)\s*[x×]\s*(?=\d)", re.IGNORECASE)
_TEMPLATE: Final = re.compile(r"\{\{(.+?)\}\}")
_WORDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "problem": "what the checker finds",
        "outcome": "how the run ends",
        "output": "what the run prints",
        "result": "what the run returns",
        "signed result": "what the run returns on inputs of both signs",
        "simulated result": "what the simulated launch writes",
    }
)
"""Properties that are called otherwise where a condition is told."""
_FOUND_COLUMNS: Final = 40
_RELATIVE: Final = 5e-4
"""A number may be given with four digits."""


@dataclass(frozen=True, slots=True)
class Condition:
    """`PROPERTY is VALUE`, `is not`, `at least`, `at most`, or `PROPERTY is that of FILE`."""

    measured: str
    relation: str
    value: str

    @staticmethod
    def of(text: str) -> "Condition":
        """Read a condition.

        Raises:
            CompileError: EN033, it is none.
        """
        found = _CONDITION.fullmatch(text.strip())
        if found is None:
            words = f"`{text}` is no condition"
            raise CompileError((Diagnostic("EN033", words, hint="such as `shape of y is (4, 3)`"),))
        return Condition(*found.groups())

    @property
    def words(self) -> str:
        """Say what it measures, and not what that has to be, which may be the answer."""
        name = self.measured.removesuffix(" now")
        words = _WORDS.get(name, f"`{name}`")
        return f"{words}, beside the program that was meant" if self.relation == "is that of" else words

    def holds(self, found: str, other: str) -> bool:
        """Tell whether it holds of a value; `other` is what it is compared with."""
        match self.relation:
            case "is" | "is that of":
                return is_same(found, other)
            case "is not":
                return not is_same(found, other)
            case "at least":
                return _number(found) >= _number(other)
            case _:
                return _number(found) <= _number(other)


@dataclass(frozen=True, slots=True)
class Judged:
    """What a condition came to: whether it holds, and what was found; empty if there is no value."""

    condition: Condition
    is_held: bool
    found: str = ""

    @property
    def words(self) -> str:
        """Say what was measured and, if that is a few words, what was found."""
        if not self.found:
            return f"{self.condition.words}: no value yet"
        is_short = len(self.found) <= _FOUND_COLUMNS
        return f"{self.condition.words}: `{self.found}`" if is_short else self.condition.words


def is_same(found: str, other: str) -> bool:
    """Tell whether two values of a property are the same, numbers in them within the precision of an answer."""
    left, right = _parts(found), _parts(other)
    return len(left) == len(right) and all(_is_part(a, b) for a, b in zip(left, right, strict=True))


def _parts(text: str) -> list[str]:
    """Return the words, numbers and sizes of a text; `k * n` is written as `n * k` is."""
    joined = _SIZE_OPERATOR.sub(r"\1", text.strip().casefold())
    return [_in_order(part) for part in _BETWEEN.split(joined) if part]


def _in_order(part: str) -> str:
    if not math.isnan(_number(part)):
        return part
    return "+".join(sorted("*".join(sorted(term.split("*"))) for term in part.split("+")))


def _is_part(found: str, other: str) -> bool:
    if found == other:
        return True
    a, b = _number(found), _number(other)
    if math.isnan(a) or math.isnan(b):
        return found.lstrip("+-") == other.lstrip("+-") == "nan"
    # Whole numbers are counted, others are computed.
    is_whole = a == int(a) and b == int(b) if math.isfinite(a) and math.isfinite(b) else True
    return a == b if is_whole else math.isclose(a, b, rel_tol=_RELATIVE, abs_tol=1e-9)


def _number(text: str) -> float:
    try:
        return float(text.strip())
    except ValueError:
        return math.nan


def not_of_kind(kind: AnswerKind, given: str) -> str:
    """Say why an answer is not even one of its kind, with how it is written; "" if it can be judged."""
    match kind:
        case "number" | "line" if given.strip().casefold() != "nan" and math.isnan(_number(given.replace(",", ""))):
            return f"`{given}` is no number"
        case "shape" if _TIMES.search(given):
            sizes = ", ".join(_TIMES.split(given.strip("()[] ")))
            return f"`{given}` is no shape: it is written with commas, such as `({sizes})`"
        case _:
            return ""


def is_right(kind: AnswerKind, given: str, right: str) -> bool:
    """Tell whether an answer is the right one."""
    match kind:
        case "number" | "line":
            return bool(given.strip()) and _is_part(given.strip().casefold().replace(",", ""), right.strip().casefold())
        case "choice":
            return given.strip() == right.strip() or is_same(given, right)
        case _:
            return is_same(given, right)


def right_answer(exercise: Predict, ask: Ask, program: Program) -> str:
    """Return the right answer of a prediction: what the engine computes, or of a choice the one that the lesson says.

    Raises:
        CompileError: EN033, it has none.
    """
    if not exercise.computed:
        return exercise.answer
    found = values_of(ask, PropertiesOf(program, (exercise.computed,)))[0]
    if exercise.answer_kind != "choice":
        return found
    return next((choice for choice in exercise.choices if is_same(choice, found)), found)


def judge(
    conditions: tuple[str, ...], ask: Ask, folder: Path, message: PropertiesOf, shown: Shown
) -> tuple[Judged, ...]:
    """Tell which conditions hold on the screen of `message`; a property that has no value there makes one false.

    Raises:
        CompileError: a text is no condition, or the file that it compares with has no value.
    """
    found = [Condition.of(text) for text in conditions]
    reply = ask(msgspec.structs.replace(message, properties=tuple(item.measured for item in found)))
    if isinstance(reply, Failure):
        return tuple(Judged(item, is_held=False) for item in found)
    judged: list[Judged] = []
    for item, value in zip(found, reply.values, strict=True):
        other = item.value
        if item.relation == "is that of":
            program = program_of(folder, msgspec.structs.replace(shown, program=item.value))
            other = values_of(ask, PropertiesOf(program, (item.measured,)))[0]
        is_held = not value.problem and item.holds(value.text, other)
        judged.append(Judged(item, is_held, "" if value.problem else value.text))
    return tuple(judged)


def are_held(conditions: tuple[str, ...], ask: Ask, folder: Path, message: PropertiesOf, shown: Shown) -> bool:
    """Tell whether all conditions hold on the screen of `message`; raises as `judge` does."""
    return all(item.is_held for item in judge(conditions, ask, folder, message, shown))


def filled(text: str, ask: Ask, program: Program) -> str:
    """Replace `{{shape of y}}` in a text by the value of that property.

    Raises:
        CompileError: EN033, one has none.
    """
    asked = tuple(dict.fromkeys(_TEMPLATE.findall(text)))
    if not asked:
        return text
    values = dict(zip(asked, values_of(ask, PropertiesOf(program, asked)), strict=True))
    return _TEMPLATE.sub(lambda found: values[found[1]].replace("`", "'"), text)


def explained(exercise: Predict | Explain, ask: Ask, program: Program) -> str:
    """Return why the answer is what it is, with the values of the run."""
    return filled(exercise.because, ask, program)
