"""Checks a lesson: every program opens, every answer is computed, every exercise can be solved."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from relax_core.diagnostics import CompileError, Diagnostic, plural
from relax_core.engine.protocol import PropertiesOf
from relax_core.lessons.judging import are_held, filled, is_right, judge, right_answer
from relax_core.lessons.library import LessonFile
from relax_core.lessons.model import Do, Explain, Fix, Lesson, Located, Look, Predict, Shown, Step
from relax_core.lessons.reading import over, refused
from relax_core.lessons.screens import Ask, held_at, program_of, resolved_address, values_of


@dataclass(frozen=True, slots=True)
class Answered:
    """A step with its right answer, as the robot of the check gives it."""

    step: int
    title: str
    kind: str
    answer: str


@dataclass(frozen=True, slots=True)
class Checked:
    """What the check of a lesson found: the answers, and what is wrong."""

    name: str
    answers: tuple[Answered, ...]
    problems: tuple[Diagnostic, ...]

    def to_text(self) -> str:
        """Print a line for each step, and what is wrong."""
        rows = [f"  {item.step:2} {item.kind:8} {item.title}  = {item.answer}".rstrip(" =") for item in self.answers]
        head = f"{self.name}: {plural(len(rows), 'step')}, {plural(len(self.problems), 'problem')}"
        return "\n".join((head, *rows, *(item.render() for item in self.problems)))


def check_lesson(file: LessonFile, ask: Ask) -> Checked:
    """Play a lesson to its end: compute each answer, reach each state, mend each program."""
    if file.lesson is None:
        return Checked(file.name, (), file.problems)
    answers: list[Answered] = []
    problems: list[Diagnostic] = []
    for number, step in enumerate(file.lesson.steps, 1):
        kind = type(step.exercise).__name__.lower() if step.exercise is not None else "read"
        try:
            answers.append(Answered(number, step.title, kind, _played(file, step, ask)))
        except _StepError as error:
            problems.append(refused(file.source, error.at, error.code, error.words, error.hint))
    return Checked(file.name, tuple(answers), (*problems, *_about_the_whole(file, file.lesson)))


def _about_the_whole(file: LessonFile, lesson: Lesson) -> Iterator[Diagnostic]:
    missing = [name for name in lesson.needs if not (file.folder.parent / name).is_dir()]
    if missing:
        yield refused(file.source, Located(0, 3), "EN033", f"there is no lesson `{missing[0]}`, which this one needs")


class _StepError(Exception):
    """A step is wrong at a place of the file."""

    def __init__(self, at: Located, found: Diagnostic) -> None:
        super().__init__(found.message)
        self.at, self.code, self.words, self.hint = at, found.code, found.message, found.hint


def _played(file: LessonFile, step: Step, ask: Ask) -> str:
    """Play one step, and return its answer.

    Raises:
        _StepError: it cannot be played.
    """
    at = step.shown_at
    try:
        look = step.exercise.at if isinstance(step.exercise, Look) else ""
        resolved_address(ask, file.folder, step.shown)
        at = step.exercise_at
        if look:
            resolved_address(ask, file.folder, step.shown, look)
        answer = _answer(file.folder, step, ask)
        at = step.at
        asked = "" if step.exercise is None else step.exercise.ask
        filled(f"{step.text}{asked}", ask, program_of(file.folder, step.shown))
        return answer
    except CompileError as error:
        raise _StepError(at, error.diagnostics[0]) from None


def _answer(folder: Path, step: Step, ask: Ask) -> str:
    program = program_of(folder, step.shown)
    match step.exercise:
        case Predict() as exercise:
            filled(exercise.because, ask, program)
            _hidden(folder, step.shown, exercise, ask)
            return _predicted(exercise, right_answer(exercise, ask, program))
        case Explain(because=because):
            return filled(because, ask, program).strip().partition("\n")[0]
        case Do(holds=holds, solution=solution, because=because):
            filled(because, ask, program)
            own = over(step.shown, solution)
            _reached(folder, step.shown, own, holds, ask)
            return ", ".join(f"{key} {value}" for key, value in resolved_address(ask, folder, own).items())
        case Fix(holds=holds, solution=solution, because=because):
            own = msgspec.structs.replace(step.shown, program=solution)
            filled(because, ask, program_of(folder, own))
            _reached(folder, step.shown, own, holds, ask)
            return solution
        case Look() | None:
            return ""


def _hidden(folder: Path, shown: Shown, exercise: Predict, ask: Ask) -> None:
    """See that the page stops before the stage that is asked about, and that the screen of the answer opens."""
    revealed = exercise.revealed(shown.page)
    if revealed is not None:
        resolved_address(ask, folder, over(shown, revealed))
    name = exercise.stage_asked
    if shown.page == "passes" and name:
        asked = values_of(ask, PropertiesOf(program_of(folder, shown), (f"stage of {name}",)))[0]
        if held_at(ask, folder, shown).stage >= int(asked):
            _refuse(f"the page shows the answer: its stage is `{name}`, which is asked about, or a later one")


def _predicted(exercise: Predict, right: str) -> str:
    kind = exercise.answer_kind
    if not right:
        _refuse("a prediction has a `computed` property, or an `answer`")
    if kind == "choice":
        fitting = [choice for choice in exercise.choices if is_right(kind, choice, right)]
        if len(fitting) != 1:
            _refuse(f"the right answer is `{right}`, which is {plural(len(fitting), 'option')} of {exercise.choices}")
    if kind == "order" and not is_right("text", ", ".join(sorted(exercise.choices)), ", ".join(sorted(_items(right)))):
        _refuse(f"the right order is `{right}`, which is none of {', '.join(exercise.choices)}")
    return right


def _items(text: str) -> list[str]:
    return [item.strip() for item in text.split(",")]


def screen_message(folder: Path, shown: Shown, ask: Ask) -> PropertiesOf:
    """Return the question about a screen, without properties."""
    address = resolved_address(ask, folder, shown)
    return PropertiesOf(
        program_of(folder, shown),
        (),
        stage=int(address.get("stage", -1)),
        time=int(address.get("time", -1)),
        node=str(address.get("node", "")),
        clock=int(address.get("clock", 0)) if "inside" in address else -1,
    )


def _reached(folder: Path, before: Shown, after: Shown, holds: tuple[str, ...], ask: Ask) -> None:
    """See that the conditions hold on the screen of the solution, and not on the one that the step begins with."""
    if not holds:
        _refuse("`holds` has no condition")
    if are_held(holds, ask, folder, screen_message(folder, before, ask), before):
        _refuse("the state that is asked for is reached before anything is done")
    found = judge(holds, ask, folder, screen_message(folder, after, ask), before)
    missing = [text for text, item in zip(holds, found, strict=True) if not item.is_held]
    if missing:
        _refuse(f"the solution does not reach `{missing[0]}`")


def _refuse(message: str) -> None:
    raise CompileError((Diagnostic("EN033", message),))
