"""A lesson as values: its steps, the screen that each shows, and the exercises, as `docs/lessons.md` describes them.

The classes of blocks are what the TOML of a block is read as: their fields are its keys.
"""

import re
from typing import Final, Literal, TypeAlias

import msgspec

PageName = Literal["source", "passes", "partition", "devices", "run", "kernels", "operators", "pipeline"]
AnswerKind = Literal["choice", "number", "shape", "text", "line", "value", "order"]
_STAGE_ASKED: Final = re.compile(r".* after ([\w.]+(?:#\d+)?)|is ([\w.]+(?:#\d+)?) changing", re.DOTALL)
POINTS: Final = 3
"""Points of an exercise that is solved at once; a hint and a wrong answer cost one each."""


class Block(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A block of TOML in a step; `place` is where it stands, half-open offsets in the file of the lesson."""


class Shown(Block, frozen=True, forbid_unknown_fields=True):
    """The real page that stands beside a step, and in which state; what is not said is as the step before left it.

    `time`, `stage`, `node` and `inside` may name what is meant: a variable, a pass, a variable or `R.add`, a kernel.
    """

    page: PageName | None = None
    program: str = ""
    """A file of the lesson's folder, or the path of a sample."""
    pipeline: str = ""
    entry: str = ""
    dims: str = ""
    """Sizes of symbolic dimensions: `n=4,m=8`."""
    table: str = ""
    """The name of a table of patterns."""
    mode: str = ""
    as_in: str = ""
    """`reported`: bugs of the past as they were."""
    unwritten: int | None = None
    poisoned: int | None = None
    seed: int = 0
    signed: int | None = None
    """1: made-up floats are of both signs."""
    rules: str = ""
    recording: str = ""
    """The path of a recorded pipeline below `samples`."""
    recorded_stage: int = -1
    stage: int | str = -1
    time: int | str = -1
    node: str = ""
    inside: int | str = -1
    """Goes into the kernel that is called at a time, or that has a name."""
    clock: int = 0
    """Which of its statements is next."""
    function: str = ""
    view: str = ""
    kernel: str = ""
    by_hand: int | None = None
    """1: on the Kernels page a schedule is written by hand."""
    schedule: str = ""
    """Its steps, a line each."""
    tab: str = ""
    lets: str = ""
    pair: int = -1


class Look(Block, frozen=True, forbid_unknown_fields=True):
    """A place to look at: a variable, or `R.add` for the first call of an operator."""

    at: str
    ask: str = ""


class Predict(Block, frozen=True, forbid_unknown_fields=True):
    """A question that is answered before the page shows it; the property `computed` gives the right answer."""

    ask: str
    computed: str = ""
    answer: str = ""
    """Of a choice about what no property says: the option that is right."""
    kind: AnswerKind | None = None
    """`choice` if there are options, else `text`."""
    options: tuple[str, ...] = ()
    """An option may have words behind ` | `: `4 | each stays alone`."""
    hints: tuple[str, ...] = ()
    because: str = ""
    """Shown once it is answered; `{{shape of y}}` is replaced by the value of that property."""
    reveal: Shown | None = None
    """The screen that opens with the answer; if it is not said, the stage that `computed` is about."""

    @property
    def stage_asked(self) -> str:
        """The pass whose result `computed` is about, empty if it is about none."""
        found = _STAGE_ASKED.fullmatch(self.computed)
        return "" if found is None else found[1] or found[2]

    def revealed(self, page: PageName | None) -> Shown | None:
        """Return the screen that opens with the answer, beside a step that shows `page`; `None` if the page stays."""
        own = Shown(stage=self.stage_asked) if page == "passes" and self.stage_asked else None
        return self.reveal or own

    @property
    def answer_kind(self) -> AnswerKind:
        """How the answer is given and compared."""
        return self.kind or ("choice" if self.options else "text")

    @property
    def is_of_types(self) -> bool:
        """Tell whether the question is about a type that the checker infers, which is told when it is answered."""
        return self.computed.startswith(("type of", "shape of", "rank of", "dtype of"))

    @property
    def is_of_problems(self) -> bool:
        """Tell whether the question is about what the checker finds, which is told when it is answered.

        Whether a program compiles is a part of what comes of it.
        """
        return self.computed.startswith("problem") or self.computed == "outcome"

    @property
    def choices(self) -> tuple[str, ...]:
        """The options without their words."""
        return tuple(option.partition(" | ")[0].strip() for option in self.options)


class Do(Block, frozen=True, forbid_unknown_fields=True):
    """A state to reach on the page beside the step: every condition of `holds` is true then.

    The student is told what a condition measures, and not what it asks for.
    """

    ask: str
    holds: tuple[str, ...]
    solution: Shown
    """The screen that "show me" opens."""
    hints: tuple[str, ...] = ()
    because: str = ""


class Fix(Block, frozen=True, forbid_unknown_fields=True):
    """A program to edit until the conditions of `holds` are true, which are told as those of `Do` are."""

    ask: str
    holds: tuple[str, ...]
    solution: str
    """The file of the mended program."""
    hints: tuple[str, ...] = ()
    because: str = ""


class Explain(Block, frozen=True, forbid_unknown_fields=True):
    """A question to think about; its answer has the machine's own data, `{{shape of y}}`."""

    ask: str
    because: str
    hints: tuple[str, ...] = ()


Exercise: TypeAlias = Look | Predict | Do | Fix | Explain


class Located(msgspec.Struct, frozen=True):
    """A block and the offsets of its text in the file of the lesson."""

    start: int
    end: int


class Step(msgspec.Struct, frozen=True):
    """A step of a lesson: text in Markdown, the screen beside it, and at most one exercise."""

    title: str
    text: str
    shown: Shown
    """The whole screen: what steps before said is in it."""
    exercise: Exercise | None = None
    at: Located = Located(0, 0)
    """The heading."""
    shown_at: Located = Located(0, 0)
    exercise_at: Located = Located(0, 0)

    @property
    def points(self) -> int:
        """The points that the step is worth; looking and explaining are worth none."""
        return POINTS if isinstance(self.exercise, Predict | Do | Fix) else 0


class Lesson(msgspec.Struct, frozen=True):
    """A lesson: the folder that it stands in, its front matter, and its steps."""

    name: str
    title: str
    about: str
    group: str
    minutes: int
    order: int
    needs: tuple[str, ...]
    introduction: str
    steps: tuple[Step, ...]

    @property
    def points(self) -> int:
        """The points of all steps."""
        return sum(step.points for step in self.steps)

    @property
    def prediction_count(self) -> int:
        """How many steps ask for a prediction."""
        return sum(isinstance(step.exercise, Predict) for step in self.steps)
