"""What comes of comparing the calls of a recorded run with other ways to compute them."""

from collections import Counter
from typing import Final

import msgspec

from relax_core.diagnostics import plural
from relax_core.engine.debug.verdicts import SIGNS, Verdict, distance_words, exit_status, said, whole

UNKNOWN_ULP: Final = -1.0
_ROWS_SHOWN: Final = 400


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
