"""View models of the Kernels page: a prim func's TIR, LLVM IR and machine code, linked part by part."""

from collections.abc import Iterator
from typing import Literal

import msgspec

from relax_core.present.models import Diff, Problem, Token, Tone


class KernelLine(msgspec.Struct, frozen=True, array_like=True):
    """A line of one of the forms; `part` is the number of the part that it belongs to, 0 if there is none."""

    tokens: tuple[Token, ...]
    number: int
    part: int = 0
    others: tuple[int, ...] = ()
    """Further parts of the same line: a line of TIR has its statement and the checks of its accesses."""


class KernelText(msgspec.Struct, frozen=True):
    """One form of the kernel."""

    title: str
    lines: tuple[KernelLine, ...]
    text: str
    """All of it, for copying."""
    instruction_count: int = 0


class KernelPart(msgspec.Struct, frozen=True, array_like=True):
    """Statements of one line of TIR, or the checks of its accesses; `words` has code between backticks."""

    number: int
    words: str
    line: int
    colour: str
    origins: tuple[int, ...] = ()
    """The lines of the user's text that it computes a part of."""


class CompilerRemark(msgspec.Struct, frozen=True, array_like=True):
    """What the compiler did or did not; `words` has code between backticks, `part` is 0 if no line is meant."""

    tone: Tone
    word: str
    words: str
    part: int = 0


class AccessRow(msgspec.Struct, frozen=True, array_like=True):
    """A load or store: under which condition it is in range, and what that means with the chosen sizes."""

    access: str
    condition: str
    """Empty: in range for any sizes."""
    state: Literal["always", "proven", "checked"]
    part: int = 0


class KernelStep(msgspec.Struct, frozen=True, array_like=True):
    """A transformation that took part in a kernel, or is switched off."""

    name: str
    summary: str
    is_off: bool = False


class StepRow(msgspec.Struct, frozen=True, array_like=True):
    """What a kernel takes without a transformation."""

    name: str
    summary: str
    seconds: float
    factor: float
    """How many times as long as with it."""
    difference: float
    """The greatest one between its results and those with it."""
    has_same_bits: bool = True
    """A difference of 0 is that of float64: zeros, NaN and large integers may have other bits."""

    @property
    def words(self) -> str:
        """How the results differ."""
        if self.difference:
            return f"differs by up to {self.difference:.2g}"
        return "the same bits" if self.has_same_bits else "other bits, equal as float64"


class StepTable(msgspec.Struct, frozen=True):
    """What each transformation of a kernel is worth: medians of so many rounds, all measured in one run."""

    kernel: str
    target: str
    off: tuple[str, ...]
    """Those that are switched off throughout."""
    seconds: float
    """With all others."""
    rounds: int
    rows: tuple[StepRow, ...]

    def to_text(self) -> str:
        """Write it as a table."""
        names = ["as it is", *(f"without {row.name}" for row in self.rows)]
        width = max(map(len, names))
        first = f"{self.kernel} for {self.target}, median of {self.rounds} rounds"
        if self.off:
            first += f", {', '.join(self.off)} switched off"
        lines = [first, f"  {names[0]:<{width}}  {duration(self.seconds)}"]
        for name, row in zip(names[1:], self.rows, strict=True):
            lines.append(f"  {name:<{width}}  {duration(row.seconds)}  {row.factor:6.2f}x  {row.words}")
        return "\n".join(lines)


class Rung(msgspec.Struct, frozen=True):
    """A kernel behind a step of a schedule, compiled as it stands there."""

    step: str
    """The step; empty for the kernel as it is written."""
    text: str
    """The kernel behind it, as TIR that reads back."""
    seconds: float = 0.0
    """A median; 0 if the kernel could not run."""
    difference: float = 0.0
    """The greatest one between its results and those of the kernel as it is written."""
    has_same_bits: bool = True
    problem: str = ""
    """Why it could not run."""
    diff: Diff | None = None
    """Against the rung before."""

    @property
    def words(self) -> str:
        """How the results differ, or why there are none."""
        return self.problem or _apart(self.difference, has_same_bits=self.has_same_bits)


class TvmRung(msgspec.Struct, frozen=True):
    """The same kernel behind a step, built and run by apache-tvm."""

    seconds: float = 0.0
    """A median; 0 if it could not run."""
    difference: float = 0.0
    """The greatest one between its results and those of our kernel as it is written."""
    has_same_bits: bool = True
    problem: str = ""
    """Why it could not run."""

    @property
    def words(self) -> str:
        """How the results differ, or why there are none."""
        return self.problem or _apart(self.difference, has_same_bits=self.has_same_bits)


class TvmTimes(msgspec.Struct, frozen=True):
    """What apache-tvm makes of each step of a schedule; medians of a run of their own."""

    version: str = ""
    rungs: tuple[TvmRung, ...] = ()
    """As those of the table; the first one is TVM's default build of the kernel as it is written."""
    problem: str = ""
    """Why there are none."""


class ForTvm(msgspec.Struct, frozen=True):
    """The kernels behind the steps of a schedule, with what they are called on, for apache-tvm."""

    kernel: str = ""
    processor: str = ""
    texts: tuple[str, ...] = ()
    """In words that TVM reads; the first one is the kernel as it is written."""
    scalars: tuple[int | float | None, ...] = ()
    """The arguments; `None` stands for an array."""
    changed: tuple[bool, ...] = ()
    """Which of the arrays our kernel as it is written changes."""
    arrays: bytes = b""
    """The arrays that are given, then what stands in those that are changed, as .npy."""
    problem: str = ""
    """Why they cannot be given to TVM."""
    returned: int = -1
    """The array whose elements are wanted after a call of the first kernel; -1: the kernels are timed."""


def _apart(difference: float, *, has_same_bits: bool) -> str:
    if difference:
        return f"differs by up to {difference:.2g}"
    return "the same bits" if has_same_bits else "other bits, equal as float64"


class ScheduleTable(msgspec.Struct, frozen=True):
    """What each step of a schedule is worth: medians, all measured in one run."""

    kernel: str
    target: str
    schedule: str
    operations: int
    """Of one call; 0 if they are not known."""
    rungs: tuple[Rung, ...]
    """The first one is the kernel as it is written."""
    ours: Rung
    """The kernel as it is written, with all transformations of the compiler."""
    problems: tuple[Problem, ...] = ()
    """Why the step behind the last rung was refused."""
    theirs: TvmTimes | None = None
    """What apache-tvm makes of the same rungs, once it has run them."""
    for_tvm: ForTvm | None = None
    """What apache-tvm is to run, where that was asked for."""

    @property
    def rows(self) -> tuple[tuple[str, Rung], ...]:
        """All that was timed, with names."""
        named = ((rung.step or "as it is written", rung) for rung in self.rungs)
        return (*named, ("all transformations of the compiler", self.ours))

    def without_diffs(self) -> "ScheduleTable":
        """Return it for a reader who has the texts."""
        plain = tuple(msgspec.structs.replace(rung, diff=None) for rung in self.rungs)
        return msgspec.structs.replace(self, rungs=plain)

    def factor(self, rung: Rung | TvmRung) -> float:
        """Return how many times as fast it is as the kernel that is written; 0 if one of them did not run."""
        return self.rungs[0].seconds / rung.seconds if rung.seconds else 0.0

    def rate(self, rung: Rung | TvmRung) -> float:
        """Return its operations in a second, in 10^9; 0 if they are not known."""
        return self.operations / rung.seconds / 1e9 if rung.seconds else 0.0

    def to_text(self) -> str:
        """Write it as a table."""
        width = max(len(name) for name, _ in self.rows)
        lines = [f"{self.kernel} for {self.target}, results beside those of the kernel as it is written"]
        lines += (self._line(f"{name:<{width}}", rung) for name, rung in self.rows)
        lines += self._their_lines(width)
        return "\n".join((*lines, *(f"{item.severity}[{item.code}]: {item.message}" for item in self.problems)))

    def _their_lines(self, width: int) -> Iterator[str]:
        if self.theirs is None:
            return
        if self.theirs.problem:
            yield self.theirs.problem
            return
        yield f"the same kernels by apache-tvm {self.theirs.version}, timed in a run of their own"
        for (name, _), rung in zip(self.rows, self.theirs.rungs, strict=False):
            yield self._line(f"{name:<{width}}", rung)

    def _line(self, name: str, rung: Rung | TvmRung) -> str:
        rate = f"{self.rate(rung):8.2f} GFLOP/s  " if self.operations else ""
        figures = f"{duration(rung.seconds)}  {self.factor(rung):8.2f}x  {rate}" if rung.seconds else ""
        return f"  {name}  {figures}{rung.words}"


class PlannedStage(msgspec.Struct, frozen=True):
    """What a transformation makes of a kernel's loops, as TIR that reads back and computes the same."""

    transform: str
    reason: str
    text: str
    """The kernel behind it; empty if the loop is one of a prim func that is called."""
    diff: Diff | None


class KernelPlans(msgspec.Struct, frozen=True):
    """The plans of a kernel's transformations, for certain sizes, from the outside in."""

    kernel: str
    start: str
    """The kernel before all of them."""
    stages: tuple[PlannedStage, ...]

    def to_text(self) -> str:
        """Write the kernel behind each stage, below what was done to it."""
        parts = [f"# {self.kernel}\n{self.start}"]
        for number, stage in enumerate(self.stages, 1):
            title = f"# {number} {stage.transform}: {stage.reason.replace('`', '')}"
            parts.append(f"{title}\n{stage.text or UNTOLD}")
        return "\n\n".join(part.rstrip() for part in parts)


UNTOLD = "# It is told in words alone: its loop is one of a prim func that is called."


def duration(seconds: float) -> str:
    """Write a time in microseconds, in nanoseconds below one of them, or in milliseconds from ten of these on."""
    if seconds < 1e-6:
        return f"{seconds * 1e9:9.0f} ns"
    return f"{seconds * 1e6:9.1f} us" if seconds < 0.01 else f"{seconds * 1e3:9.1f} ms"


class KernelSize(msgspec.Struct, frozen=True, array_like=True):
    """A symbol of the kernel's shapes; `value` is -1 while it may be anything."""

    name: str
    value: int


class SourceLine(msgspec.Struct, frozen=True, array_like=True):
    """A line of the user's text that a kernel computes a part of."""

    number: int
    text: str


class KernelView(msgspec.Struct, frozen=True):
    """All that the page shows of a kernel; `kernels` are those of the program."""

    name: str
    kernels: tuple[str, ...]
    tir: KernelText
    lowered: KernelText
    optimised: KernelText
    assembly: KernelText
    parts: tuple[KernelPart, ...]
    remarks: tuple[CompilerRemark, ...]
    accesses: tuple[AccessRow, ...]
    sizes: tuple[KernelSize, ...]
    seconds: float
    target: str
    """The processor that the machine code is for."""
    steps: tuple[KernelStep, ...] = ()
    origins: tuple[SourceLine, ...] = ()
    """The lines whose operators the kernel computes, fused ones included, or that call it."""
