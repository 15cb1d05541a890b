"""A run over many modules: what is known is taken from the store, the fleet does the rest, and a matrix says it all."""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from relax_core.fleet.jobs import (
    OUTCOMES,
    WITHOUT_VERDICT,
    Command,
    Fleet,
    FleetError,
    Job,
    Outcome,
    Result,
    Task,
    digest,
)
from relax_core.fleet.store import Store

NOT_DONE: Final = "not done"
State: TypeAlias = Outcome | Literal["not done"]
STATES: Final[tuple[State, ...]] = (*OUTCOMES, NOT_DONE)
INTERRUPTED: Final = "interrupted"
Tell: TypeAlias = Callable[[int, int, int], None]


@dataclass(frozen=True, slots=True)
class Cell:
    """A command on a module: first what is to be done, and behind the run what came of it."""

    name: str
    """Of the module; the matrix has a row for each name."""
    path: str
    command: Command
    job: Job | None
    """`None` if the module cannot be read: `result` says why."""
    result: Result | None = None
    earlier: Result | None = None
    """What the run that this one is compared with has of the same name and command."""

    @property
    def state(self) -> State:
        """The outcome, if there is one."""
        return NOT_DONE if self.result is None else self.result.outcome

    @property
    def change(self) -> str:
        """What is different from the earlier run, in words; "" if nothing is."""
        if self.earlier is None or self.result is None:
            return ""
        if self.earlier.outcome != self.result.outcome:
            return f"was {self.earlier.outcome}"
        is_alike = (self.earlier.words, self.earlier.digest) == (self.result.words, self.result.digest)
        if is_alike:
            return ""
        return f"was {self.earlier.words}" if self.earlier.words != self.result.words else "another result than before"

    @property
    def is_worse(self) -> bool:
        """Whether it did not pass, and the earlier run does not have the same outcome."""
        return self.state != "passed" and (self.earlier is None or self.earlier.outcome != self.state)


@dataclass(frozen=True, slots=True)
class Matrix:
    """The cells of a run, those of one module after another."""

    cells: tuple[Cell, ...]
    version: str
    fleet: str
    seconds: float = 0.0
    kept_count: int = 0
    """How many jobs the store had the results of."""
    done_count: int = 0
    """How many jobs the fleet carried out; modules with the same text are one."""
    problem: str = ""
    """Why the run ended before all was done."""

    @property
    def commands(self) -> tuple[Command, ...]:
        """The columns, in the order in which they were asked for."""
        return tuple(dict.fromkeys(cell.command for cell in self.cells))

    def rows(self) -> tuple[tuple[Cell, ...], ...]:
        """Return the cells of each module."""
        found: dict[str, list[Cell]] = {}
        for cell in self.cells:
            found.setdefault(cell.name, []).append(cell)
        return tuple(tuple(row) for row in found.values())

    def counts(self, command: Command | None = None) -> dict[State, int]:
        """Count the cells by their state, of one column or of all; a state that none has is left out."""
        counter = Counter(cell.state for cell in self.cells if command in (None, cell.command))
        return {state: counter[state] for state in STATES if counter[state]}

    def exit_status(self, fails_on: Literal["any", "worse"] = "any") -> int:
        """Return the status of a process: that of the gravest state.

        1: something failed. 3: something has no verdict, or is not done. 4: something was not compared. 0: all passed.
        With "worse" only cells count that the earlier run has no such outcome of.
        """
        states = {cell.state for cell in self.cells if fails_on == "any" or cell.is_worse}
        if "failed" in states:
            return 1
        if states & {*WITHOUT_VERDICT, NOT_DONE}:
            return 3
        return 4 if "not compared" in states else 0


@dataclass(frozen=True, slots=True)
class Campaign:
    """What carries the jobs of a run out, and where their results are kept."""

    fleet: Fleet
    version: str
    """Of what carries them out; results of another one are not taken."""
    store: Store | None = None
    tries_again: bool = False
    """Whether a job is done again that the store has without a verdict."""

    def carry_out(self, cells: Sequence[Cell], tell: Tell = lambda _done, _all, _bad: None) -> Matrix:
        """Do what the store does not have, and return the matrix.

        `tell` is called with the numbers of jobs that are done, of all, and of those that did not pass. Ctrl-C ends the
        run, as the loss of the fleet does; what was done until then is in the matrix, which says why it is not all.
        """
        began = time.monotonic()
        keys = [_key(cell, self.version) for cell in cells]
        tasks = {key: Task(key, cell.job) for key, cell in zip(keys, cells, strict=True) if cell.job is not None}
        found = self._known(tasks)
        if self.store is not None:
            named = zip(keys, cells, strict=True)
            self.store.begin(self.version, ((cell.name, cell.command, key) for key, cell in named))
        kept_count = len(found)
        problem = self._do([task for key, task in tasks.items() if key not in found], found, tell)
        results = (cell.result or found.get(key) for key, cell in zip(keys, cells, strict=True))
        return Matrix(
            tuple(replace(cell, result=result) for cell, result in zip(cells, results, strict=True)),
            self.version,
            self.fleet.words,
            time.monotonic() - began,
            kept_count,
            len(found) - kept_count,
            problem,
        )

    def _known(self, tasks: Mapping[str, Task]) -> dict[str, Result]:
        """Return what the store has of the jobs."""
        known = {} if self.store is None else self.store.known(tasks)
        if self.tries_again:
            return {key: result for key, result in known.items() if result.outcome not in WITHOUT_VERDICT}
        return known

    def _do(self, left: Sequence[Task], found: dict[str, Result], tell: Tell) -> str:
        """Have the fleet do what is left and add it to `found`; return why it did not do all, "" if it did."""
        task_of = {task.key: task for task in left}
        bad_count = 0
        results = self.fleet.results(left)
        try:
            tell(0, len(left), bad_count)
            for count, done in enumerate(results, 1):
                found[done.key] = done.result
                if self.store is not None:
                    self.store.put(task_of[done.key], done)
                bad_count += done.result.outcome != "passed"
                tell(count, len(left), bad_count)
        except KeyboardInterrupt:
            return INTERRUPTED
        except FleetError as error:
            return str(error)
        finally:
            results.close()
        return ""


def _key(cell: Cell, version: str) -> str:
    """Return the key of a cell's job; of one without a job, of why it has none."""
    if cell.job is None:
        return digest(f"{cell.command} {cell.path} {cell.result}".encode())
    return cell.job.key(version)
