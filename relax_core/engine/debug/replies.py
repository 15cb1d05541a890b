"""What requests that look for faults are answered with: texts, numbers and archives."""

from collections import Counter
from itertools import groupby
from typing import Final, Literal

import msgspec

from relax_core.diagnostics import plural
from relax_core.engine.debug.tolerance import Difference
from relax_core.engine.debug.verdicts import (
    NO_VALUES,
    SIGNS,
    Verdict,
    distance_words,
    exit_status,
    listed,
    ranges,
    said,
    whole,
)
from relax_core.engine.halving.reply import Halved
from relax_core.engine.replies import Executed
from relax_core.present.nodes.origin_models import spans

UNKNOWN_ULP: Final = -1.0
_ROWS_SHOWN: Final = 400


class StageResult(msgspec.Struct, frozen=True):
    """What came of running the module after a pass; stage 0 is the reference, if it runs."""

    index: int
    name: str
    verdict: Literal["reference"] | Verdict
    words: str = ""
    """What is different, what was compared and how far apart it is, or why it was not compared."""
    differences: tuple[Difference, ...] = ()
    is_repeated: bool = False
    """The pass changed nothing, so what was said of the stage before holds."""
    largest: float = 0.0
    compared: int = 0
    """The number of results that were compared: leaves of the result, what was printed, arguments that were changed."""
    follows: int = -1
    """The number of the stage that brought the difference, or the reason, that this one shows as well; -1: its own."""
    is_aside: bool = False
    """It is no form of the program, but what another pass compiled on its own; the verdict does not count it."""
    where: str = ""
    """Where in the stage the difference is: the function, the first binding and element that show it."""
    line: int = 0
    """The line of the stage's text that `where` names first, 0 if it names none."""
    stand_ins: str = ""
    """Which calls were stand-ins, such as `2 calls were stand-ins (my.f: zeros, 2 calls)`."""


class Bisection(msgspec.Struct, frozen=True):
    """Every stage's result, and which pass is the first that changed it."""

    entry: str
    stages: tuple[StageResult, ...]
    stopped: str = ""
    """Why the compiler that was recorded stopped, in a paragraph; "" if it did not."""
    halved: Halved | None = None
    """What came of applying a part of what the guilty pass changed, if that was tried."""
    numbers: tuple[int, ...] = ()
    """What a recording calls its stages, which the words use; empty: they are counted from 0."""

    @property
    def verdict(self) -> Verdict:
        """What all stages come to together; what the compiler did not make cannot be compared."""
        found: list[Verdict] = [
            stage.verdict for stage in self.stages if stage.verdict != "reference" and not stage.is_aside
        ]
        return whole([*found, "not comparable"] if self.stopped else found)

    @property
    def status(self) -> int:
        """The exit status: 0 only if every stage was compared and is the same, see `exit_status`."""
        return exit_status(self.verdict)

    @property
    def first_different(self) -> int:
        """The number of the first stage whose result is not the reference's, -1 if there is none."""
        return next((stage.index for stage in self.stages if stage.verdict == "different"), -1)

    def number(self, index: int) -> int:
        """Return the number that the words give to a stage: that of the recording, if it has its own."""
        return self.numbers[index] if index < len(self.numbers) else index

    @property
    def suspects(self) -> tuple[int, ...]:
        """The numbers of the stages of which one brought the first difference.

        It is the first different stage, unless stages before it could not be compared.
        """
        at = self.first_different
        if at < 0:
            return ()
        good = self.last_good
        return (*(item.index for item in self.stages[good + 1 : at] if not (item.is_repeated or item.is_aside)), at)

    @property
    def last_good(self) -> int:
        """The number of the last stage before the first difference, or of all, that is as the reference is; or 0."""
        at = self.first_different
        before = self.stages[:at] if at >= 0 else self.stages
        return next((item.index for item in reversed(before) if item.verdict in ("same", "stops alike")), 0)

    @property
    def conclusion(self) -> str:
        """What it comes to: the pass that changed the result of the entry function, and what could not be judged."""
        return "\n".join(filter(None, (self._concluded(), self.stopped)))

    def _concluded(self) -> str:
        name, count = f"`{self.entry}`", sum(not stage.is_aside for stage in self.stages)
        match self.verdict:
            case "different":
                return "".join((self._culprit(), self._not_judged()))
            case "same":
                results = plural(max(stage.compared for stage in self.stages[1:]), "result")
                words = ", ".join(filter(None, (f"{results} compared", distance_words(self.largest))))
                return f"{name} computes the same after all {count} stages: {words}"
            case "stops alike":
                words = self.stages[-1].words
                return f"{name} stops alike after all {count} stages, so that no results were compared: {words}"
            case "not comparable" if count < 2:
                return f"{name} is not comparable, because there is only one stage"
            case "not comparable":
                found = "is the same where it was compared" if self._has_same else "was compared after no stage"
                return f"{name} {found}{self._not_judged()}"

    @property
    def largest(self) -> float:
        """The largest distance of close numbers in all stages."""
        return max((stage.largest for stage in self.stages), default=0.0)

    @property
    def _has_same(self) -> bool:
        return any(stage.verdict == "same" for stage in self.stages)

    def _culprit(self) -> str:
        *others, at = self.suspects
        stage = self.stages[at]
        if not others:
            where = f"; {stage.where}" if stage.where and stage.where not in stage.words else ""
            part = f". {self.halved.words}" if self.halved is not None else ""
            first = f"`{self.entry}` computes something else from {stage.name} (stage {self.number(at)}) on"
            return f"{first}: {stage.words}{where}{part}"
        names = listed((f"{self.stages[item].name} (stage {self.number(item)})" for item in (*others, at)), "or")
        return (
            f"`{self.entry}` computes something else from one of {names} on, "
            f"of which only the last could be compared: {stage.words}"
        )

    def _not_judged(self) -> str:
        """Say which stages could not be compared, by reason."""
        groups: dict[str, list[int]] = {}
        for stage in self.stages:
            if stage.verdict == "not comparable" and not stage.is_aside:
                groups.setdefault(stage.words, []).append(self.number(stage.index))
        return "".join(
            f"\n{'Stage' if len(numbers) == 1 else 'Stages'} {ranges(numbers)} not comparable, because {words}"
            for words, numbers in groups.items()
        )

    def to_text(self) -> str:
        """Print a line per stage, those that follow from another one as one line, and what it comes to."""
        width = max((len(stage.name) for stage in self.stages), default=0)
        suspects = self.suspects
        rows: list[str] = []
        for is_unchanged, group in groupby(self.stages, _is_unchanged):
            stages = tuple(group)
            if is_unchanged and len(stages) > 1:
                numbers = ranges(self.number(stage.index) for stage in stages)
                rows.append(f"    = {numbers}: same, for the module is unchanged ({plural(len(stages), 'stage')})")
                continue
            for stage in stages:
                if stage.follows < 0:
                    sign = "*" if stage.verdict == "reference" else SIGNS[stage.verdict]
                    rows.append(
                        f"{self.number(stage.index):>3} {sign} {stage.name:<{width}}  {_said(stage, suspects)}".rstrip()
                    )
                elif self.stages[stage.index - 1].follows < 0:
                    rows.append(self._folded(stage))
        return "\n".join((*rows, self.conclusion))

    def _folded(self, first: StageResult) -> str:
        behind = self.stages[first.index :]
        count = next((n for n, stage in enumerate(behind) if stage.follows != first.follows), len(behind))
        head = self.stages[first.follows].name
        what = "the same difference as" if first.verdict == "different" else f"{first.verdict} as"
        numbers = ranges(self.number(at) for at in range(first.index, first.index + count))
        return f"    {SIGNS[first.verdict]} {numbers}: {what} after {head} ({plural(count, 'stage')})"

    def to_json(self) -> str:
        """Return everything as one object of JSON."""
        concluded = {"verdict": self.verdict, "status": self.status, "conclusion": self.conclusion}
        pointed = {"first_different": self.first_different, "suspects": self.suspects}
        return msgspec.json.encode({**concluded, **pointed, **msgspec.structs.asdict(self)}).decode()


def _is_unchanged(stage: StageResult) -> bool:
    return stage.verdict == "same" and stage.is_repeated


def _said(stage: StageResult, suspects: tuple[int, ...]) -> str:
    mark = ("; the first" if len(suspects) == 1 else "; one of the suspects") if stage.index in suspects else ""
    match stage.verdict:
        case "reference":
            return f"reference {stage.words}".rstrip()
        case "same" if stage.is_repeated:
            return "same: unchanged module"
        case verdict:
            return f"{said(verdict, stage.words)}{mark}"


class ValueRow(msgspec.Struct, frozen=True):
    """A binding of two runs, or of one of them; or what both runs came to."""

    name: str
    line: int
    verdict: Verdict
    type: str = ""
    words: str = ""
    largest: float = 0.0
    """The largest distance of close numbers."""


class Parting(msgspec.Struct, frozen=True):
    """The first time at which two runs of one program differ: in a register, or in where they go."""

    time: int
    line: int
    now: str
    """What the first run is about to do."""
    other: str = ""
    """What the other run is about to do, if that is something else or in another function."""
    registers: tuple[ValueRow, ...] = ()
    """The registers that differ then, such as `main %3 y`, of all frames that both runs have."""

    def to_text(self) -> str:
        """Return the time, and a line for each register."""
        ways = f"the first: {self.now} The other: {self.other}" if self.other else self.now
        return "\n".join(
            (f"They part at time {self.time}. {ways}", *(f"{row.name}: {row.words}" for row in self.registers))
        )


class ValuesCompared(msgspec.Struct, frozen=True):
    """The bindings of two runs, in the order of the first one, and what the runs came to."""

    rows: tuple[ValueRow, ...]
    left: str = ""
    """Names the first run, such as `Source`."""
    right: str = ""
    notes: tuple[str, ...] = ()
    """Errors that ended a run early."""
    outcome: ValueRow | None = None
    """What both runs came to, if both were made: result, output and changed arguments."""
    parting: Parting | None = None
    """Of two forks of one run: where they part."""

    @property
    def verdict(self) -> Verdict:
        """What all comparisons come to together."""
        return whole(row.verdict for row in self._all)

    @property
    def status(self) -> int:
        """The exit status: 0 only if every value was compared and is the same, see `exit_status`."""
        return exit_status(self.verdict)

    @property
    def first_different(self) -> ValueRow | None:
        """The first binding that both runs have and whose values differ."""
        return next((row for row in self.rows if row.verdict == "different"), None)

    @property
    def _all(self) -> tuple[ValueRow, ...]:
        return self.rows if self.outcome is None else (*self.rows, self.outcome)

    @property
    def conclusion(self) -> str:
        """What it comes to, with the number of values that were compared."""
        counts = Counter(row.verdict for row in self.rows)
        both = counts["same"] + counts["different"]
        verb = "differs" if both == 1 else "differ"
        parts = [f"{counts['different']} of {plural(both, 'value')} {verb}" if counts["different"] else ""]
        if counts["same"] and not counts["different"]:
            words = distance_words(max(row.largest for row in self.rows))
            parts.append(f"{plural(both, 'value')} compared and the same{f', {words}' if words else ''}")
        alone = sum(row.verdict == "not comparable" and row.words.startswith("only ") for row in self.rows)
        if alone:
            parts.append(f"{plural(alone, 'value')} not comparable, since only one side has them")
        if behind := counts["not comparable"] - alone:
            parts.append(f"{plural(behind, 'value')} not comparable, since calls before them were stand-ins")
        if not self.rows and self.outcome is None:
            parts.append(f"not comparable, because {NO_VALUES}")
        if self.outcome is not None:
            parts.append(f"result: {said(self.outcome.verdict, self.outcome.words)}")
        names = f"{self.left} against {self.right}" if self.left else "The first against the second"
        return f"{names}: {self.verdict}; {'; '.join(filter(None, parts))}"

    def to_json(self) -> str:
        """Return everything as one object of JSON."""
        concluded = {"verdict": self.verdict, "status": self.status, "conclusion": self.conclusion}
        return msgspec.json.encode({**concluded, **msgspec.structs.asdict(self)}).decode()


class Reproduced(msgspec.Struct, frozen=True):
    """A Python file that shows a difference with apache-tvm and numpy alone, and a report in Markdown."""

    script: str
    report: str
    pass_name: str


class GivenInput(msgspec.Struct, frozen=True):
    """A parameter, and where its value is from."""

    param: str
    type: str
    """Such as `(n, 4) f32`."""
    file: str
    """Its name; empty for a value that was made up."""
    words: str
    """What was done to come to the value, such as `RGB, 32 × 24 pixels as CHW, divided by 255`."""
    value: str
    """Shape and dtype of the array; empty for several."""


class ReadInputs(msgspec.Struct, frozen=True):
    """Files for the parameters of a function, as one archive of inputs."""

    entry: str
    archive: bytes
    rows: tuple[GivenInput, ...]
    """In the order of the parameters."""


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

    def to_text(self) -> str:
        """Return the profile as a table."""
        rounds = f"{self.rounds} run{'' if self.rounds == 1 else 's'}"
        total = f"{self.seconds * 1e6:,.1f} us in all, median of {rounds}"
        head = f"{'share':>6} {'us':>12} {'runs':>8} {'line':>8}  {total}"
        rows = (
            f"{item.share:>6.1%} {item.seconds * 1e6:>12,.1f} {item.calls:>8,} {item.place:>8}  "
            f"{item.text or '(no line)'}  [{item.what}]"
            for item in self.lines
        )
        return "\n".join((head, *rows))


class ChromeTrace(msgspec.Struct, frozen=True):
    """A timed run in the Chrome trace format."""

    content: bytes
    rendered: str = ""
    """The diagnostic that ended the run, if one did."""


class CallSide(msgspec.Struct, frozen=True):
    """A value that was computed in another way, beside the recorded one."""

    verdict: Verdict
    words: str = ""
    """Where and by how much they differ, or why they were not compared."""
    value: str = ""
    """The computed value in short, such as `[0.5, 1, …]`."""
    element: str = ""
    """The element that differs most, such as `[0, 2]`; "" if all are equal, or there is only one."""
    recorded_element: str = ""
    """That element as it was recorded."""
    computed_element: str = ""
    """That element as it was computed."""
    ulp: float = UNKNOWN_ULP
    """The largest distance in units in the last place; -1 for what are no floating-point numbers."""
    largest: float = 0.0
    """The largest absolute difference of finite numbers."""


class CallRow(msgspec.Struct, frozen=True):
    """A call of the recorded run; the last row of a comparison is the result of the entry function."""

    number: int
    """Its number in the recording, from 0; -1 for the result."""
    name: str
    """The kernel or packed function, such as `matmul1`."""
    variable: str = ""
    """The variable of the first form of the program that the call computes, "" if it is not known."""
    line: int = 0
    """Where that variable is bound in the text of the first form, 0 if it is not known."""
    type: str = ""
    """Such as `(2, 3) float32`."""
    value: str = ""
    """The recorded value in short."""
    tolerance: str = ""
    """How far the values may be apart, and why: `1e-05 of the largest, times 8 for sums of 64 terms`."""
    machine: CallSide = CallSide("not comparable")
    """What this machine computes by the same stage."""
    numpy: CallSide = CallSide("not comparable")
    """What the operators of the first form compute by their definition in NumPy."""

    @property
    def verdict(self) -> Verdict:
        """What both comparisons come to: a difference, or else the better known of the two."""
        sides = (self.machine.verdict, self.numpy.verdict)
        if "different" in sides:
            return "different"
        return "same" if "same" in sides else sides[0]


class CallsCompared(msgspec.Struct, frozen=True):
    """The calls of a recorded run in order, each beside what is computed here."""

    entry: str
    rows: tuple[CallRow, ...]
    run: int = 0
    """Which of the recorded runs."""
    stage: int = -1
    """The position of the stage that the machine ran, -1 if none could be."""
    stage_name: str = ""
    is_fed: bool = True
    """Each call here had the recorded arguments, so that an early difference does not spoil those behind it."""
    left_out: int = 0
    """The number of calls without a value to compare, such as allocations."""
    notes: tuple[str, ...] = ()

    @property
    def first_different(self) -> int:
        """The index of the first row that differs, -1 if there is none."""
        return next((at for at, row in enumerate(self.rows) if row.verdict == "different"), -1)

    @property
    def verdict(self) -> Verdict:
        """What all rows come to together."""
        return whole(row.verdict for row in self.rows)

    @property
    def status(self) -> int:
        """The exit status: 0 only if every call was compared and is the same, see `exit_status`."""
        return exit_status(self.verdict)

    @property
    def conclusion(self) -> str:
        """What it comes to: the first call whose recorded result is another one, and by how much."""
        name, at = f"`{self.entry}`", self.first_different
        if at >= 0:
            row = self.rows[at]
            sides = (("this machine", row.machine), ("NumPy", row.numpy))
            wrong = "; ".join(f"against {who}: {side.words}" for who, side in sides if side.verdict == "different")
            right = "".join(f"; {who} agrees" for who, side in sides if side.verdict == "same")
            return f"{name}: the first call whose result in TVM differs is {row_title(row)}: {wrong}{right}"
        counts = Counter(row.verdict for row in self.rows)
        if not counts["same"]:
            return f"{name}: nothing could be compared{self._reasons()}"
        sides = [side for row in self.rows for side in (row.machine, row.numpy) if side.verdict == "same"]
        words = ", ".join(filter(None, (distance_words(max(side.largest for side in sides)), _ulps(sides))))
        tail = f", {words}" if words else ""
        return f"{name}: {plural(counts['same'], 'value')} compared and the same{tail}{self._reasons()}"

    def _reasons(self) -> str:
        groups = Counter(row.machine.words for row in self.rows if row.verdict not in ("same", "different"))
        return "".join(f"\n{plural(count, 'value')} not comparable, because {words}" for words, count in groups.items())

    def to_text(self) -> str:
        """Print a line per call, and what it comes to."""
        shown = self.rows[:_ROWS_SHOWN]
        width = max((len(row_title(row)) for row in shown), default=0)
        type_width = max((len(row.type) for row in shown), default=0)
        lines = [
            f"{SIGNS[row.verdict]} {row_title(row):<{width}}  {row.type:<{type_width}}  {_sides(row)}".rstrip()
            for row in shown
        ]
        more = len(self.rows) - len(shown)
        lines += [f"… and {plural(more, 'call')} more"] if more else []
        return "\n".join((*lines, *self.notes, self.conclusion))

    def to_json(self) -> str:
        """Return everything as one object of JSON."""
        concluded = {"verdict": self.verdict, "status": self.status, "conclusion": self.conclusion}
        pointed = {"first_different": self.first_different}
        return msgspec.json.encode({**concluded, **pointed, **msgspec.structs.asdict(self)}).decode()


def row_title(row: CallRow) -> str:
    """Return `12 matmul1 (lv3)`: number, callee and variable."""
    if row.number < 0:
        return "the result"
    return f"{row.number} {row.name}" + (f" ({row.variable})" if row.variable else "")


def _sides(row: CallRow) -> str:
    sides = (("machine", row.machine), ("NumPy", row.numpy))
    return "; ".join(f"{who} {said(side.verdict, side.words)}" for who, side in sides)


def _ulps(sides: list[CallSide]) -> str:
    largest = max((side.ulp for side in sides), default=UNKNOWN_ULP)
    return f"{largest:,.0f} ULP" if largest > 0 else ""


class SentArray(msgspec.Struct, frozen=True, array_like=True):
    """An array by name, in C order; `dtype` is what NumPy calls it, such as "<f4" or "bfloat16"."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    content: bytes


class FormRun(msgspec.Struct, frozen=True):
    """What came of one form: where it stands if it was not run, else what the run left behind; see `Outcome`."""

    name: str
    fault: str = ""
    same_as: int = -1
    is_aside: bool = False
    is_printed: bool = False
    arrays: tuple[SentArray, ...] = ()
    shape: str = ""
    opaque: tuple[tuple[str, str], ...] = ()
    args: tuple[SentArray, ...] = ()
    changed: tuple[str, ...] = ()
    lacks: str = ""


class FormRuns(msgspec.Struct, frozen=True):
    """What came of forms that stand one behind the other; fewer than were asked for if one of them ended otherwise."""

    first: int
    runs: tuple[FormRun, ...]
    are_all: bool
    """None that was asked for is missing."""
