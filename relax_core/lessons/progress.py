"""What a student has done: hints used, wrong answers, what was solved, and the points for it."""

import base64
import binascii
import zlib
from typing import Final, Literal

import msgspec

from relax_core.lessons.model import POINTS, Lesson, Step

State = Literal["open", "given", "solved", "shown"]
"""`given` is an answer that a class has not revealed; `shown` was solved by "show me", for no points."""
_PREFIX: Final = "RS1"
_LONGEST_CODE: Final = 200_000
_LONGEST_TEXT: Final = 1_000_000


class StepRecord(msgspec.Struct, frozen=True):
    """What a student did at a step."""

    state: State = "open"
    hints: int = 0
    wrong: int = 0
    answer: str = ""
    """The latest answer."""

    @property
    def worth(self) -> int:
        """What solving it gives: all at once, one point less for each hint and wrong answer, but one at least."""
        return max(1, POINTS - self.hints - self.wrong)

    @property
    def points(self) -> int:
        """What it was worth if it was solved, else none."""
        return self.worth if self.state == "solved" else 0


class Progress(msgspec.Struct, frozen=True):
    """The records of all steps that were begun, by lesson and number of the step, counted from 1."""

    lessons: dict[str, dict[int, StepRecord]] = {}

    def of(self, lesson: str, step: int) -> StepRecord:
        """Return the record of a step."""
        return self.lessons.get(lesson, {}).get(step, StepRecord())

    def with_record(self, lesson: str, step: int, record: StepRecord) -> "Progress":
        """Return the progress with another record of a step."""
        return Progress({**self.lessons, lesson: {**self.lessons.get(lesson, {}), step: record}})

    def over(self, other: "Progress") -> "Progress":
        """Return both together; where both know a step, this one counts."""
        names = {**other.lessons, **self.lessons}
        return Progress({name: {**other.lessons.get(name, {}), **self.lessons.get(name, {})} for name in names})


def is_done(step: Step, record: StepRecord) -> bool:
    """Tell whether a step is done: its exercise was solved or shown; what is only read is done when it was left."""
    return record.state != "open"


def score(lesson: Lesson, progress: Progress) -> int:
    """Return the points of a lesson."""
    own = progress.lessons.get(lesson.name, {})
    return sum(own[number].points for number, step in enumerate(lesson.steps, 1) if step.points and number in own)


def done_count(lesson: Lesson, progress: Progress) -> int:
    """Return how many steps of a lesson are done."""
    return sum(is_done(step, progress.of(lesson.name, number)) for number, step in enumerate(lesson.steps, 1))


def to_text(progress: Progress) -> str:
    """Write the progress as the browser keeps it."""
    return msgspec.json.encode(progress).decode()


def from_text(text: str) -> Progress:
    """Read what a browser kept; what is none is no progress."""
    try:
        return msgspec.json.decode(text, type=Progress) if len(text) <= _LONGEST_TEXT else Progress()
    except msgspec.MsgspecError:
        return Progress()


class HandedIn(msgspec.Struct, frozen=True):
    """What a code says: who handed in, and the progress."""

    name: str
    progress: Progress


class CodeError(ValueError):
    """A text is no code that was handed in, or one that was cut or changed."""


def hand_in(name: str, progress: Progress) -> str:
    """Return a code for the teacher: compressed JSON in base64 behind a checksum of it.

    The checksum finds a code that was cut or mistyped. It is no proof of who did the work.
    """
    content = zlib.compress(msgspec.json.encode(HandedIn(name.strip(), progress)), 9)
    packed = base64.urlsafe_b64encode(content).decode().rstrip("=")
    return f"{_PREFIX}-{zlib.crc32(packed.encode()):08x}-{packed}"


def read_code(code: str) -> HandedIn:
    """Read a code that a student handed in; never inflates without a bound.

    Raises:
        CodeError: it is none, or was cut or changed.
    """
    prefix, _, rest = "".join(code.split()).partition("-")
    checksum, _, packed = rest.partition("-")
    if prefix != _PREFIX or not packed or len(packed) > _LONGEST_CODE:
        raise CodeError(f"a code begins with `{_PREFIX}-`")
    if f"{zlib.crc32(packed.encode()):08x}" != checksum.lower():
        raise CodeError("the checksum does not fit: the code was cut or changed")
    try:
        stream = zlib.decompressobj()
        content = base64.b64decode(packed + "=" * (-len(packed) % 4), altchars=b"-_", validate=True)
        text = stream.decompress(content, _LONGEST_TEXT)
        if not stream.eof:
            raise CodeError("the code holds more than a course has")
        return msgspec.json.decode(text, type=HandedIn)
    except (ValueError, binascii.Error, zlib.error, msgspec.MsgspecError) as error:
        raise CodeError(f"the code cannot be read: {error}") from None
