"""A class in one room: who is there, where its teacher is, and anonymous answers, as immutable values.

Nothing here is kept anywhere: whoever holds the values forgets them with the class. Times are seconds of one clock.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final

MOST_CLASSES: Final = 40
MOST_MEMBERS: Final = 200
IDLE_SECONDS: Final = 2 * 3600
"""A class ends when its teacher was away for so long."""
LONGEST_SECONDS: Final = 12 * 3600
AWAY_SECONDS: Final = 12
"""A browser that was not heard of for so long is not counted as being there; its answers are."""
LONGEST_ANSWER: Final = 200
CODE_LETTERS: Final = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Letters of codes: none that look alike on a projector."""
CODE_LENGTH: Final = 6


class ClassError(ValueError):
    """A class cannot be opened, joined or led; the text says why."""


@dataclass(frozen=True, slots=True)
class Destination:
    """Where browsers are sent: a step of a lesson, or a page with its address."""

    lesson: str = ""
    step: int = 0
    page: str = ""
    address: tuple[tuple[str, str], ...] = ()

    @property
    def is_set(self) -> bool:
        """Tell whether it is anywhere."""
        return bool(self.lesson or self.page)


@dataclass(frozen=True, slots=True)
class Member:
    """A browser in a class, which has no name: when it was last heard of, and the step that it shows."""

    heard_at: float
    step: int = 0


@dataclass(frozen=True, slots=True)
class Classroom:
    """A class: its code, the secret of who leads it, what is shown, and what was answered."""

    code: str
    secret: str
    opened_at: float
    led_at: float
    """When the teacher was last heard of."""
    lesson: str = ""
    step: int = 1
    """The step that the teacher shows."""
    sent: Destination = Destination()
    call: int = 0
    """Counts how often everybody was sent somewhere."""
    is_followed: bool = False
    """Whether browsers go wherever the teacher goes."""
    closes_at: float = 0.0
    """When answers of the step close; 0 for never."""
    revealed: frozenset[int] = frozenset()
    """Steps whose answers were revealed."""
    members: Mapping[str, Member] = field(default_factory=lambda: MappingProxyType({}))
    answers: Mapping[tuple[int, str], str] = field(default_factory=lambda: MappingProxyType({}))
    """The latest answer by step and member."""

    def is_over(self, now: float) -> bool:
        """Tell whether it lasted too long, or was left by its teacher."""
        return now - self.led_at > IDLE_SECONDS or now - self.opened_at > LONGEST_SECONDS

    def is_open(self, step: int, now: float) -> bool:
        """Tell whether answers to a step are taken."""
        return step not in self.revealed and not (self.closes_at and step == self.step and now >= self.closes_at)

    def seconds_left(self, now: float) -> int | None:
        """Return what the timer shows, `None` if it does not run."""
        return max(0, round(self.closes_at - now)) if self.closes_at else None

    def present(self, now: float) -> tuple[Member, ...]:
        """Return the browsers that are there."""
        return tuple(item for item in self.members.values() if now - item.heard_at <= AWAY_SECONDS)

    def answer_count(self, step: int) -> int:
        """Return how many have answered a step."""
        return sum(at == step for at, _ in self.answers)

    def answers_to(self, step: int) -> Counter[str]:
        """Count the answers to a step."""
        return Counter(text for (at, _), text in self.answers.items() if at == step)

    def heard(self, member: str, step: int, now: float) -> "Classroom":
        """Return the class after a browser said that it is there; the first time it joins.

        Raises:
            ClassError: the class is full.
        """
        if member not in self.members and len(self.members) >= MOST_MEMBERS:
            raise ClassError(f"This class has {MOST_MEMBERS} browsers, which is the most.")
        return replace(self, members=MappingProxyType({**self.members, member: Member(now, step)}))

    def left(self, member: str) -> "Classroom":
        """Return the class without a browser, whose answers stay counted."""
        return replace(
            self, members=MappingProxyType({name: item for name, item in self.members.items() if name != member})
        )

    def answered(self, member: str, step: int, text: str, now: float) -> "Classroom":
        """Return the class after an answer, which takes the place of an earlier one; one that comes too late does not.

        Raises:
            ClassError: answers to this step are closed, or the member is unknown.
        """
        if member not in self.members:
            raise ClassError("This browser is not in the class.")
        if not self.is_open(step, now):
            raise ClassError("Answers to this step are closed.")
        return replace(self, answers=MappingProxyType({**self.answers, (step, member): text.strip()[:LONGEST_ANSWER]}))

    def at(self, step: int) -> "Classroom":
        """Return the class whose teacher shows another step; the timer stops, and everyone follows if they do."""
        moved = replace(self, step=step, closes_at=0.0)
        return moved.everyone_at_step() if self.is_followed else moved

    def following(self, *, is_followed: bool) -> "Classroom":
        """Return the class whose browsers go wherever the teacher goes, beginning with this step, or no longer do."""
        changed = replace(self, is_followed=is_followed)
        return changed.everyone_at_step() if is_followed else changed

    def everyone_at_step(self) -> "Classroom":
        """Return the class that was sent to the step that the teacher shows."""
        return self.everyone_to(Destination(lesson=self.lesson, step=self.step))

    def everyone_to(self, destination: Destination) -> "Classroom":
        """Return the class that was sent somewhere."""
        return replace(self, sent=destination, call=self.call + 1)

    def with_time(self, seconds: float, now: float) -> "Classroom":
        """Return the class with more time for answers, counted from now if the timer does not run."""
        return replace(self, closes_at=max(self.closes_at, now) + seconds)

    def revealing(self) -> "Classroom":
        """Return the class with the answer to the step revealed; the timer stops."""
        return replace(self, revealed=self.revealed | {self.step}, closes_at=0.0)


def without_ended(classes: Mapping[str, Classroom], now: float) -> dict[str, Classroom]:
    """Return the classes that are not over."""
    return {code: item for code, item in classes.items() if not item.is_over(now)}


def with_class(classes: Mapping[str, Classroom], opened: Classroom) -> dict[str, Classroom]:
    """Return the classes with one more.

    Raises:
        ClassError: there are as many as there may be.
    """
    kept = without_ended(classes, opened.opened_at)
    if len(kept) >= MOST_CLASSES:
        raise ClassError(f"This server holds {MOST_CLASSES} classes, which is the most. Wait until one has ended.")
    return {**kept, opened.code: opened}


def code_of(given: str) -> str:
    """Return a code as it is written on the board, from what was typed: case, blanks and hyphens do not matter."""
    return "".join(given.upper().split()).replace("-", "")[:CODE_LENGTH]


def spaced(code: str) -> str:
    """Write a code for people."""
    return f"{code[:3]} {code[3:]}"
