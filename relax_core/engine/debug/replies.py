"""What requests that look for faults are answered with: texts, numbers and archives."""

from typing import Literal

import msgspec

from relax_core.engine.debug.differences import Difference, Verdict
from relax_core.engine.replies import Executed
from relax_core.present.origin_models import spans


class StageResult(msgspec.Struct, frozen=True):
    """What came of running the module after a pass."""

    index: int
    name: str
    verdict: Literal["reference", "same", "different", "not run"]
    words: str = ""
    """What is different, how far apart close numbers are, or why it was not run."""
    differences: tuple[Difference, ...] = ()
    is_repeated: bool = False
    """The pass changed nothing, so what was said of the stage before holds."""
    largest: float = 0.0


class Bisection(msgspec.Struct, frozen=True):
    """Every stage's result; `first_different` is the number of the first pass that changed it, -1 if none did."""

    entry: str
    stages: tuple[StageResult, ...]

    @property
    def first_different(self) -> int:
        """The number of the first stage whose result is not the reference's, -1 if there is none."""
        return next((stage.index for stage in self.stages if stage.verdict == "different"), -1)

    def to_text(self) -> str:
        """Print a line per stage, and what it comes to."""
        signs = {"reference": "*", "same": "=", "different": "x", "not run": "-"}
        width = max((len(stage.name) for stage in self.stages), default=0)
        rows = [
            f"{stage.index:>3} {signs[stage.verdict]} {stage.name:<{width}}  {_said(stage)}" for stage in self.stages
        ]
        return "\n".join((*(row.rstrip() for row in rows), self.conclusion))

    @property
    def conclusion(self) -> str:
        """One sentence: which pass changed the result of the entry function."""
        at = self.first_different
        if at < 0:
            ran = [stage for stage in self.stages if stage.verdict != "not run"]
            if not ran:
                return f"`{self.entry}` runs after no stage."
            if ran[0].words:
                return f"`{self.entry}` stops alike after all {len(ran)} stages that run: {ran[0].words}"
            return f"`{self.entry}` computes the same after all {len(ran)} stages that run."
        stage = self.stages[at]
        return f"`{self.entry}` computes something else from {stage.name} (stage {at}) on: {stage.words}"


def _said(stage: StageResult) -> str:
    match stage.verdict:
        case "reference":
            return f"reference {stage.words}".rstrip()
        case "same":
            return "unchanged module" if stage.is_repeated else f"same {stage.words}".rstrip()
        case "different" if stage.is_repeated:
            return "unchanged module"
        case _:
            return f"{stage.verdict}: {stage.words}"


class ValueRow(msgspec.Struct, frozen=True):
    """A binding of two runs, or of one of them."""

    name: str
    line: int
    verdict: Verdict
    type: str = ""
    words: str = ""


class ValuesCompared(msgspec.Struct, frozen=True):
    """The bindings of two runs, in the order of the first one."""

    rows: tuple[ValueRow, ...]
    left: str = ""
    """Names the first run, such as `Source`."""
    right: str = ""
    notes: tuple[str, ...] = ()
    """Errors that ended a run early."""

    @property
    def first_different(self) -> ValueRow | None:
        """The first binding that both runs have and whose values differ."""
        return next((row for row in self.rows if row.verdict == "different"), None)


class Dumped(msgspec.Struct, frozen=True):
    """The values of all bindings of a run as npz, in the order of time, and what the run came to."""

    archive: bytes
    count: int
    executed: Executed


class StopText(msgspec.Struct, frozen=True):
    """A stop of a run: where it is, and the stack with its registers as text."""

    time: int
    line: int
    pc: int
    text: str


class Stopped(msgspec.Struct, frozen=True):
    """The stops of a run at breakpoints."""

    stops: tuple[StopText, ...]
    met: int
    """How often the run came by the places of the breakpoints."""
    count: int
    """How often it stopped; `stops` may hold fewer."""
    executed: Executed
    problems: tuple[str, ...] = ()
    """Conditions that had no value at a hit."""


class ProfileLine(msgspec.Struct, frozen=True):
    """What a line of the text took."""

    line: int
    text: str
    calls: int
    """How often an instruction of the line ran."""
    seconds: float
    share: float
    """Of the whole run, 0 to 1."""
    what: str = ""
    """What took most of it, such as `kernel add`."""
    others: tuple[int, ...] = ()
    """Lines that the same instructions compute, since passes made one kernel of them; the time is that of all."""

    @property
    def place(self) -> str:
        """The line with the others, such as `8-12`; `-` for what stems from no line."""
        return spans(sorted((self.line, *self.others))) if self.line else "-"


class Profiled(msgspec.Struct, frozen=True):
    """Where the time of a run goes, the slowest line first; medians of several runs."""

    lines: tuple[ProfileLine, ...]
    seconds: float
    rounds: int
    rendered: str = ""
    """The diagnostic that ended the run, if one did."""
