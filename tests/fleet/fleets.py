"""Fleets for tests: one that works in this process, and one that is lost or interrupted on its way."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field

from relax_core.engine.protocol import Program
from relax_core.engine.session import Session
from relax_core.fleet.campaign import Cell
from relax_core.fleet.jobs import Command, Done, Job, Result, Task
from relax_core.fleet.judging import judge

VERSION = "RelaxScope of the test"


class SessionFleet:
    """Carries jobs out in this process, one after the other."""

    words = "this process"

    def results(self, tasks: Sequence[Task]) -> Generator[Done]:
        session = Session()
        for task in tasks:
            result = judge(session, task.job)
            assert result is not None
            yield Done(task.key, result)


@dataclass
class ScriptedFleet:
    """Answers by the text of a module, and notes which it was asked about; `loss` is raised behind so many."""

    outcomes: dict[str, Result] = field(default_factory=dict[str, Result])
    loss: BaseException | None = None
    loss_after: int = 0
    asked: list[str] = field(default_factory=list[str])
    words: str = "a script"

    def results(self, tasks: Sequence[Task]) -> Generator[Done]:
        for number, task in enumerate(tasks):
            if self.loss is not None and number == self.loss_after:
                raise self.loss
            text = task.job.program.text
            self.asked.append(text)
            yield Done(task.key, self.outcomes.get(text, Result("passed")))


def cell(name: str, text: str, command: Command = "check") -> Cell:
    """Return a cell whose job is to carry a command out on a text."""
    return Cell(name, f"zoo/{name}", command, Job(command, Program(text, name)))
