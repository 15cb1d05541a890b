"""Moves through a run of a prim func: to a statement, to what is looked for, forwards and backwards.

A position is the number of statements that have run. The instrumented function, compiled, runs to it from the nearest
checkpoint behind it; nothing is recorded between checkpoints, and what is computed are the bits of the plain kernel.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Final, TypeVar

from relax_core.analysis.serial_threads import as_loops, hindrance
from relax_core.diagnostics import Diagnostic, RunError
from relax_core.inside import control
from relax_core.inside.instrument import Instrumented, instrument
from relax_core.inside.memory import Checkpoint, Memory, memory_for
from relax_core.inside.probes import ANYWHERE, Query, probe_of
from relax_core.inside.sites import Layout, Level, Site
from relax_core.ir.node import Node
from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.ir.tir import PrimFunc
from relax_core.jit.engine import Engine
from relax_core.jit.lowering.lower import NO_FUNCTIONS

SPACING: Final = 1 << 21
"""Statements between checkpoints; they are thinned out where they would take more than COPIES_BYTES."""
COPIES_BYTES: Final = 1 << 27
FAR: Final = 1 << 18
"""From so many statements away a run comes with a copy NEAR statements before the place."""
NEAR: Final = 1 << 10
EXPLORING_SECONDS: Final = 2.0

T = TypeVar("T")
CallHost = Callable[[str, tuple[Any, ...]], object]


def span_line(node: Node) -> int:
    """Return the line of a node in its own text, 0 if it has none."""
    return 0 if node.span is None else node.span.line


@dataclass(frozen=True, slots=True)
class Kernel:
    """What is stepped through: a prim func with what compiles it and what it may call."""

    function: PrimFunc
    name: str
    engine: Engine
    log: RewriteLog | None = None
    functions: Mapping[str, PrimFunc] = field(default_factory=lambda: NO_FUNCTIONS)
    call_host: CallHost | None = None
    line_of: Callable[[Node], int] = span_line


class Stepper:
    """A run of a prim func on arguments, which are copied, at one of its statements."""

    def __init__(self, kernel: Kernel, args: Sequence[Any]) -> None:
        """Stop before the first statement.

        Raises:
            RunError: TI001, TI002, JT017 for what cannot be stepped through; an argument does not fit, or the run fails
                before its first statement.
            CompileError: the function cannot be compiled.
        """
        function = as_loops(kernel.function)
        if (found := hindrance(function)) is not None:
            hint = "Simulate it: `run --simulate`."
            raise RunError((Diagnostic("TI001", f"A function in which {found.words} cannot be stepped through",
                                       kernel.function.span, hint),))  # fmt: skip
        self.kernel = kernel
        self._programs: dict[str, Instrumented] = {"": instrument(function, kernel.name)}
        self.function = function
        self.layout: Layout = self._programs[""].layout
        self.memory: Memory = memory_for(self.layout, args, kernel.engine.allocation_limit_bytes)
        self.checkpoints: list[Checkpoint] = []
        self.total: int | None = None
        """How many statements there are, if the run was followed to its end."""
        self.stopped: RunError | None = None
        """Why it goes no further than `total`."""
        self._spacing = SPACING
        self._near: Checkpoint | None = None
        self._keep()
        self.move_to(0)

    @property
    def clock(self) -> int:
        """How many statements have run."""
        return self.memory.clock

    @property
    def is_ended(self) -> bool:
        """Tell whether no statement is left."""
        return bool(self.memory.words[control.MODE] != control.STOPPED)

    @property
    def site(self) -> Site | None:
        """The statement that would run next, `None` at the end."""
        return None if self.is_ended else self.layout.sites[int(self.memory.words[control.SITE])]

    def explore(self, seconds: float = EXPLORING_SECONDS) -> None:
        """Follow the run to its end, or for so long, with checkpoints on the way; the position stays."""
        here, begun = self.clock, monotonic()
        while self.total is None and monotonic() - begun < seconds:
            self._forward(self.checkpoints[-1].clock + self._spacing)
        self.move_to(here)

    def move_to(self, clock: int) -> None:
        """Stop before statement number `clock`, or at the end if there are fewer."""
        if self.total is not None:
            clock = min(clock, self.total)
        clock = max(clock, 0)
        while self.total is None and clock - self.checkpoints[-1].clock > self._spacing:
            self._forward(self.checkpoints[-1].clock + self._spacing)
        self._forward(clock if self.total is None else min(clock, self.total))

    def run_to_end(self) -> bool:
        """Go to the end, or to the statement that fails."""
        self.move_to(control.NEVER - 1)
        return True

    def line_of(self, node: Node) -> int:
        """Return the line of a node in the text that is stepped through, 0 if it has none."""
        return self.kernel.line_of(node)

    def peek(self, read: Callable[[], T]) -> T:
        """Return what `read` finds behind the statement that would run next; the run stays before it."""
        kept = self.memory.copied()
        self.run_statement()
        try:
            return read()
        finally:
            self.memory.restore(kept)

    def run_statement(self) -> None:
        """Run the next statement, if it is not the one that fails."""
        if not self.is_ended and (self.total is None or self.clock < self.total):
            self._forward(self.clock + 1)

    def find(self, query: Query, after: int | None = None) -> bool:
        """Stop before the next statement that is looked for, if there is one behind this one, or behind `after`."""
        here = self.clock
        if after is not None and after < here:
            self.move_to(after + 1)
        self._ask(query, control.TO_FIRST, after=here if after is None else after)
        if self._run(control.NEVER, query):
            return True
        self.move_to(here)
        return False

    def find_back(self, query: Query) -> bool:
        """Stop before the last statement that is looked for and has run, if there is one."""
        here = end = self.clock
        for checkpoint in reversed([item for item in self.checkpoints if item.clock < here]):
            self.memory.restore(checkpoint)
            self._ask(query, control.TO_LAST, after=-1)
            self._run(end, query)
            found = int(self.memory.words[control.FOUND])
            if found >= 0:
                self.move_to(found)
                return True
            end = checkpoint.clock
        self.move_to(here)
        return False

    def value_of(self, level: Level) -> int | None:
        """Return the value of a loop around the statement that would run next."""
        site = self.site
        if site is None or level not in site.levels or level.slot is None:
            return None
        return int(self.memory.words[level.slot.word])

    def run_program(
        self, key: str, make: Callable[[], Instrumented], arrays: Sequence[Any], target: int, query: Query = ANYWHERE
    ) -> None:
        """Run another form of the function, which takes `arrays` besides, from here to before statement `target`."""
        if key not in self._programs:
            self._programs[key] = make()
        self._ask(query, control.TO_FIRST, after=-1)
        self._call(self._programs[key], target, arrays)

    def restore_before(self, clock: int) -> None:
        """Go to the last checkpoint that is not behind statement `clock`."""
        self.memory.restore(self._nearest(clock))

    def _nearest(self, clock: int) -> Checkpoint:
        """Return the last copy that is not behind statement `clock`."""
        kept = next(item for item in reversed(self.checkpoints) if item.clock <= clock)
        near = self._near
        return near if near is not None and kept.clock < near.clock <= clock else kept

    def _forward(self, clock: int) -> None:
        """Run to `clock` from here or from the nearest checkpoint."""
        nearest = self._nearest(clock)
        if not nearest.clock <= self.clock <= clock or self.is_ended:
            self.memory.restore(nearest)
        if clock - self.clock > FAR:
            # What is done next is most often near: a step back, or a look at the statements before.
            self._ask(ANYWHERE, control.NO_SEARCH, after=-1)
            self._run(clock - NEAR, ANYWHERE)
            self._near = self.memory.copied()
        self._ask(ANYWHERE, control.NO_SEARCH, after=-1)
        self._run(clock, ANYWHERE)
        if self.clock >= self.checkpoints[-1].clock + self._spacing and not self.is_ended:
            self._keep()

    def _keep(self) -> None:
        self.checkpoints.append(self.memory.copied())
        if sum(item.size_bytes for item in self.checkpoints) > COPIES_BYTES and len(self.checkpoints) > 2:
            self._spacing *= 2
            kept = [self.checkpoints[0]]
            for item in self.checkpoints[1:]:
                if item.clock >= kept[-1].clock + self._spacing:
                    kept.append(item)
            self.checkpoints = kept

    def _ask(self, query: Query, search: int, after: int) -> None:
        words = self.memory.words
        words[control.SEARCH], words[control.AFTER], words[control.FOUND] = search, after, -1
        words[control.FIRST], words[control.END] = query.first, query.end
        words[control.IS_NEGATED] = query.is_negated
        words[control.QUERY : control.QUERY + len(query.words)] = query.words
        for level in self.layout.levels:
            words[level.wanted] = control.ANY
        for number, value in query.wanted:
            words[self.layout.levels[number].wanted] = value

    def _run(self, target: int, query: Query) -> bool:
        key = query.key
        if key not in self._programs:
            self._programs[key] = instrument(self.function, self.kernel.name, probe_of(query, self.layout))
        return self._call(self._programs[key], target, ())

    def _call(self, program: Instrumented, target: int, arrays: Sequence[Any]) -> bool:
        """Run on; tell whether that stopped where it was to, and not at the end or at a failure."""
        memory, kernel = self.memory, self.kernel
        words = memory.words
        if self.is_ended and self.clock == self.total:
            # A function that has returned would begin anew.
            return False
        words[control.TARGET] = target
        was_begun = words[control.MODE] == control.STOPPED
        words[control.MODE] = control.RESUMING if was_begun else control.RUNNING
        compiled = kernel.engine.kernel(program.function, kernel.name, kernel.log, kernel.functions)
        try:
            compiled(*memory.args, words, memory.reals, *memory.allocated, *arrays, call_host=kernel.call_host)
        except RunError as error:
            if any(item.code in _PASSING for item in error.diagnostics):
                raise
            self._fail(error, is_plain=program is self._programs[""])
            return False
        if self.is_ended:
            self.total = self.clock
        return not self.is_ended

    def _fail(self, error: RunError, *, is_plain: bool) -> None:
        """Go to the statement at which the run stops by itself."""
        failed = self.clock
        if failed == 0:
            raise error
        self.restore_before(failed - 1 if is_plain else failed)
        self._ask(ANYWHERE, control.NO_SEARCH, after=-1)
        if not is_plain:
            # What looks around may fail where the function itself does not.
            self._call(self._programs[""], control.NEVER, ())
            return
        # The statement that failed has been counted.
        self.stopped, self.total = error, failed - 1
        self._call(self._programs[""], self.total, ())


_PASSING: Final = ("JT014", "VM008")
"""What stops a run without being a fact about it: it was cancelled."""
