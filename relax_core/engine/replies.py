"""Replies that hold texts and places only: what the command line prints, a listing, where a run stops."""

from collections.abc import Iterator
from typing import Final, Literal, TypeAlias, get_args

import msgspec

from relax_core.engine.programs.program import Program
from relax_core.present.models import Code, Diff, Mark, Pipeline, Problem, StageDetail
from relax_core.present.running.inside_models import RooflineOf
from relax_core.present.running.run_models import Tensor

Change: TypeAlias = Literal["appears", "goes", "more often", "less often"]
"""What becomes of a name in a stage."""


class Found(msgspec.Struct, frozen=True):
    """The diagnostics of a program, as data and as the command line prints them."""

    problems: tuple[Problem, ...] = ()
    rendered: tuple[str, ...] = ()
    has_errors: bool = False


class ReadBack(msgspec.Struct, frozen=True):
    """Whether a module is the same once it was printed and read back; `words` say so, or where it is not."""

    is_equal: bool
    words: str


class Text(msgspec.Struct, frozen=True):
    """A printed program; `notes` go to standard error. `read_back` is there if that was asked for."""

    text: str
    notes: tuple[str, ...] = ()
    read_back: ReadBack | None = None


class StageText(msgspec.Struct, frozen=True):
    """One stage for the command line."""

    index: int
    name: str
    is_changed: bool
    seconds: float
    rewrite_count: int
    remarks: tuple[str, ...]
    text: str
    problems: tuple[str, ...] = ()


class Stages(msgspec.Struct, frozen=True):
    """All stages for the command line, the source being number 0."""

    stages: tuple[StageText, ...]


class Listing(msgspec.Struct, frozen=True):
    """A generated text: bytecode, LLVM IR or assembly."""

    code: Code
    kernels: tuple[str, ...] = ()


class WrittenBuffer(msgspec.Struct, frozen=True):
    """A buffer that a prim func that was run wrote, before and after."""

    name: str
    before: str
    after: str


class Executed(msgspec.Struct, frozen=True):
    """What a run printed and returned; `archive` holds the result as npz (`out`, `out_0`, ...)."""

    output: tuple[str, ...]
    result: str
    archive: bytes
    events: int
    rendered: str = ""
    """The diagnostic that ended the run, if one did."""
    is_limit: bool = False
    written: tuple[WrittenBuffer, ...] = ()
    """Of a module of prim funcs alone: what the one that ran wrote, in the order of its parameters."""
    problems: tuple[Problem, ...] = ()
    stand_ins: str = ""
    """Which calls were stand-ins, such as `2 calls were stand-ins (my.f: zeros, 2 calls)`; "" for none."""
    interventions: tuple[str, ...] = ()
    """What the host did besides setting values: which calls were not made, and which functions were replaced."""


ReportPart: TypeAlias = Literal["source", "passes", "run"]
"""What a report tells: the text with its graphs, what each pass did, how it runs."""
REPORT_PARTS: Final[tuple[ReportPart, ...]] = get_args(ReportPart)


class ReportFile(msgspec.Struct, frozen=True):
    """A report as HTML, and what was left out of it for its size."""

    html: str
    left_out: tuple[str, ...] = ()
    has_errors: bool = False
    """The program is ill-formed, a pass failed, or the run did not return; the report says which."""


class Restored(msgspec.Struct, frozen=True):
    """A text with its layout restored and what was done to it."""

    text: str
    changes: tuple[str, ...] = ()


class Stop(msgspec.Struct, frozen=True):
    """Where a run stops."""

    time: int


class RecordedView(msgspec.Struct, frozen=True):
    """The stages of a recorded pipeline, and what is known of the recording."""

    pipeline: Pipeline
    forms: tuple[int, ...]
    """The positions of the stages that are different forms of the program."""
    source: str = ""
    """What it was read from, such as `a log`."""
    facts: tuple[tuple[str, str], ...] = ()
    """What the recorder wrote about the build, such as `tvm` and its version."""
    notes: tuple[Problem, ...] = ()
    """What there is to say of the source: holes, what was left out, a pass that raised."""
    missing: tuple[str, ...] = ()
    """A sentence on each constant that is not at hand."""
    runs: tuple[str, ...] = ()
    """The entry functions of the runs that were recorded."""
    has_crash: bool = False
    """A pass, what is behind the passes, or a run did not return."""


class StageFaults(msgspec.Struct, frozen=True):
    """Why the form of the program at a position is ill-formed."""

    position: int
    problems: tuple[Problem, ...]
    count: int
    """How many errors it has; `problems` may hold fewer."""


class RecordedFaults(msgspec.Struct, frozen=True):
    """The forms of the program that are ill-formed, in order."""

    stages: tuple[StageFaults, ...]
    checked: int
    """How many forms there are."""


class RecordedTexts(msgspec.Struct, frozen=True):
    """The texts of two stages side by side.

    The lines of the diff have names to select them by: `a/3` is line 3 of the left text, `b/3` of the right one.
    """

    diff: Diff
    words: tuple[str, ...] = ()
    """Why a side has no text."""


class RecordedFiles(msgspec.Struct, frozen=True):
    """What two stages are saved as."""

    text: str
    """The right one."""
    patch: str
    """What `patch` takes to make the right one of the left one."""


class FunctionRow(msgspec.Struct, frozen=True):
    """A function of one of two stages, or of both."""

    name: str
    kind: Literal["Relax", "prim func"]
    mark: Mark
    """What became of it from the left stage to the right one."""
    before: int
    """Its line in the left text, 0 if it is not there."""
    after: int
    """Its line in the right text, 0 if it is not there."""
    region: str = ""
    """The compiler region that it is, such as `for cutlass` or `composite cutlass.matmul`."""
    placed: str = ""
    """What it is compiled for and runs on, such as `cuda, host llvm`, as far as the text says that."""


class RecordedFunctions(msgspec.Struct, frozen=True):
    """The functions of two stages: those of the right one, then those that only the left one has."""

    rows: tuple[FunctionRow, ...]
    count: int
    """How many there are; `rows` may hold fewer."""


class RecordedInputs(msgspec.Struct, frozen=True):
    """What the program of a recording takes."""

    entry: str
    """The function that runs."""
    entries: tuple[str, ...]
    """The functions that can."""
    params: tuple[tuple[str, str], ...] = ()
    """Names and types of the parameters of `entry`, such as `(n, 4) f32`."""
    sizes: tuple[tuple[str, int], ...] = ()
    """The symbolic dimensions of made-up inputs, with their sizes."""
    unknown: tuple[tuple[str, bool], ...] = ()
    """The packed functions that it names and that are not here; True: the recorded run has what they gave."""


class Crash(msgspec.Struct, frozen=True):
    """What stopped a recorded compiler, or a run; without words if nothing did."""

    words: str = ""
    """One paragraph: where it stopped and with what, and what is wrong with the module before it."""
    title: str = ""
    """The first half of that in a few words."""
    position: int = -1
    """Of the stage that stopped; -1 for a run."""
    before: int = -1
    """The position of the form before it, which the mistake is in; -1 if there is none."""
    line: int = 0
    """Of that form's text, 0 if no line is known."""
    since: int = -1
    """The position of the first form with that mistake, if a pass or the input brought it."""
    since_line: int = 0
    """Of that form's text, 0 if no line is known."""
    code: str = ""
    """Of the mistake; "" if none was found."""
    rule: str = ""
    """What the code stands for."""
    report: str = ""
    """The text of a bug report, in Markdown."""
    script: str = ""
    """A file that stops there with apache-tvm and numpy alone."""
    unscripted: str = ""
    """Why there is no such file, "" if there is."""


class OwnPass(msgspec.Struct, frozen=True):
    """What the pass of one's own library makes of the module that a recorded pass was given, beside what that made."""

    verdict: Literal["equal", "same", "different", "stops alike", "not comparable", "no such pass"]
    """Equal: it is the same module; same: it computes the same."""
    words: str
    diff: Diff | None = None
    """The text of ours beside that of the recorded pass, both printed alike."""


class TraceFile(msgspec.Struct, frozen=True):
    """A recording as the bytes of an `.rxt` file."""

    content: bytes


class SavedRun(msgspec.Struct, frozen=True):
    """A recorded run as the bytes of an `.rxt` file, and what it came to."""

    content: bytes
    executed: Executed


class OpenedRun(msgspec.Struct, frozen=True):
    """What a file of a recorded run holds: the program, which shows that run wherever it is asked for one."""

    program: Program
    entry: str
    """The function that ran."""
    event_count: int
    outcome: Literal["returned", "error", "limit"]
    stand_ins: str = ""
    """Which calls were stand-ins, in words."""


class Appearance(msgspec.Struct, frozen=True):
    """A stage from which on a text occurs more or less often."""

    position: int
    name: str
    change: Change
    count: int
    line: int
    """Of the first occurrence; in the form before, if it goes."""


class Appearances(msgspec.Struct, frozen=True):
    """Where a text occurs in the forms of the program."""

    rows: tuple[Appearance, ...]
    """Where its count changes."""
    conclusion: str
    has_more: bool = False
    """There are more rows than these."""


class StageView(msgspec.Struct, frozen=True):
    """One stage: the texts before and after, and what the pass says."""

    detail: StageDetail
    diff: Diff
    after: Code
    """The whole text after the pass, to copy and to download."""
    patch: str = ""
    """What `patch` takes to make that text of the one before the pass."""


class RewriteView(msgspec.Struct, frozen=True):
    """One rewrite of a stage: the texts before and after it, or with and without it."""

    number: int
    rule: str
    diff: Diff
    text: str
    """The module as text, as it is behind this."""
    numbers: tuple[int, ...]
    """Those of the rewrites of the stage that can be shown so."""
    problems: tuple[Problem, ...] = ()
    """What is wrong with the module: a pass need not leave a well-formed one between its rewrites."""
    is_left_out: bool = False


Effect: TypeAlias = Literal["changes", "leaves", "refuses", "breaks", "needs options"]
"""What a pass does to a module; `breaks`: what it makes is ill-formed, as of one that counts on another before it."""
OrderEffect: TypeAlias = Literal["same", "different", "refused"]


class EffectRow(msgspec.Struct, frozen=True):
    """What one pass would make of a module, with the defaults of its options."""

    name: str
    effect: Effect
    added_count: int = 0
    removed_count: int = 0
    is_idempotent: bool | None = None
    """Of one that changes the module: it leaves what it made when it runs again; `None`: it then refuses it."""
    reason: str = ""
    """Why it refuses the module, what is wrong with what it makes, or which options it needs."""


class PairRow(msgspec.Struct, frozen=True):
    """Two passes that change a module, and whether both orders give the same."""

    first: str
    second: str
    effect: OrderEffect


class EffectsView(msgspec.Struct, frozen=True):
    """What each pass would make of the module at a stage."""

    stage: str
    rows: tuple[EffectRow, ...]
    pairs: tuple[PairRow, ...] = ()

    def to_text(self) -> str:
        """List what the passes do, those that change the module first, then the pairs whose order matters."""
        changing = [item for item in self.rows if item.effect == "changes"]
        again = {True: "leaves it when it runs again", False: "changes it again", None: "refuses what it made"}
        lines = [f"{len(changing)} of {len(self.rows)} passes would change the module after {self.stage}"]
        lines += [
            f"  {item.name}: +{item.added_count} -{item.removed_count} lines; {again[item.is_idempotent]}"
            for item in changing
        ]
        stops = {"refuses": "refuses it", "breaks": "would leave it ill-formed"}
        lines += [f"  {item.name} {stops[item.effect]}: {item.reason}" for item in self.rows if item.effect in stops]
        needy = [item.name for item in self.rows if item.effect == "needs options"]
        lines += [f"  not tried without options: {', '.join(needy)}"] if needy else []
        told = {"different": "gives another module than the other order", "refused": "is possible in one order at most"}
        ordered = [item for item in self.pairs if item.effect != "same"]
        lines.append(f"{len(self.pairs) - len(ordered)} of {len(self.pairs)} pairs give the same in both orders")
        lines += [f"  {item.first} with {item.second} {told[item.effect]}" for item in ordered]
        return "\n".join(lines)


COST_FIGURES: Final = (
    ("Operators", "operator_calls"),
    ("Kernels", "kernels"),
    ("Launches", "launches"),
    ("Operations", "operations"),
    ("Bytes moved", "moved_bytes"),
    ("Peak bytes", "peak_bytes"),
)
"""The figures of a `CostRow` in the order of tables, each with its head."""


class CostRow(msgspec.Struct, frozen=True):
    """What one call of the entry costs at a stage; the figures are those of `rc.costs_of`.

    `added` and `removed` are the operators and packed functions of which the pass left more calls, or fewer.
    """

    index: int
    name: str
    operator_calls: int = 0
    kernels: int = 0
    launches: int = 0
    operations: int = 0
    moved_bytes: int = 0
    peak_bytes: int = 0
    unknown: tuple[tuple[str, int], ...] = ()
    lower_bounds: tuple[str, ...] = ()
    added: tuple[tuple[str, int], ...] = ()
    removed: tuple[tuple[str, int], ...] = ()
    hindrance: str = ""
    """Why there are no figures, such as that the stage has no function of that name."""

    def known(self, name: str) -> int | None:
        """Return a figure, which is a lower bound if `lower_bounds` has its name; None if nothing is known of it."""
        found = int(getattr(self, name))
        return None if self.hindrance or (name in self.lower_bounds and not found) else found

    def figure(self, name: str) -> str:
        """Write a figure, with ≥ if it is a lower bound, "-" if nothing is known of it."""
        found = self.known(name)
        if found is None:
            return "-"
        return f"≥ {found:,}" if name in self.lower_bounds else f"{found:,}"

    def cells(self) -> tuple[str, ...]:
        """Return the cells of a table: the stage, then the figures in the order of `COST_FIGURES`."""
        return (f"{self.index} {self.name}", *(self.figure(name) for _, name in COST_FIGURES))

    def notes(self) -> Iterator[str]:
        """Yield what is to be said besides the figures, such as `+2 relax.call_tir, -1 relax.add`."""
        if self.hindrance:
            yield self.hindrance
        if self.changes:
            yield self.changes
        if self.unknown:
            yield f"not counted: {self.not_counted}"

    @property
    def changes(self) -> str:
        """Which calls came and went."""
        signed = (("+", self.added), ("-", self.removed))
        return ", ".join(f"{sign}{count} {name}" for sign, names in signed for name, count in names)

    @property
    def not_counted(self) -> str:
        """What the figures are without, and how often that is called."""
        return "; ".join(f"{name} ({count})" for name, count in self.unknown)


class CostsView(msgspec.Struct, frozen=True):
    """What one call of the entry costs at each stage of a pipeline that changed the module, the source first."""

    entry: str
    sizes: tuple[tuple[str, int], ...]
    """Of symbolic dimensions: those of the program, or small ones."""
    rows: tuple[CostRow, ...]

    @property
    def title(self) -> str:
        """Which call it is."""
        shown = ", ".join(f"{name} = {size}" for name, size in self.sizes)
        return f"one call of `{self.entry}`" + (f" with {shown}" if shown else "")

    def to_text(self) -> str:
        """Set the figures in columns; below a stage what the pass added and removed, and what is not counted."""
        heads = ("stage", *(head.lower() for head, _ in COST_FIGURES))
        lines = [heads, *(row.cells() for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        shown = [self.title]
        for line, row in zip(lines, (None, *self.rows), strict=True):
            name, *figures = zip(line, widths, strict=True)
            shown.append("  ".join((name[0].ljust(name[1]), *(cell.rjust(width) for cell, width in figures))))
            shown += [] if row is None else [f"    {words}" for words in row.notes()]
        return "\n".join(shown)


class Measured(msgspec.Struct, frozen=True):
    """What a module is like behind its passes."""

    digest: str
    """Of the printed module: two with the same one are the same."""
    operators: tuple[tuple[str, int], ...]
    """How often each operator and packed function is called in the text."""
    regions: tuple[tuple[str, int], ...]
    """How many compiler regions each target has."""
    costs: CostRow


class TensorPage(msgspec.Struct, frozen=True):
    """A part of a tensor and the whole of its shape."""

    tensor: Tensor
    shape: tuple[int, ...] = ()
    dtype: str = ""
    text: str = ""
    """The part as text to copy, as NumPy prints it."""


class Sample(msgspec.Struct, frozen=True):
    """A sample program and the words of its header."""

    path: str
    """Relative to `samples/`, such as `seeds/print_closure.py`."""
    title: str
    shows: str = ""
    source: str = ""
    changes: tuple[str, ...] = ()
    text: str = ""
    area: str = ""


class SampleList(msgspec.Struct, frozen=True):
    """The samples, ordered by area and path."""

    samples: tuple[Sample, ...]


class PropertyValue(msgspec.Struct, frozen=True):
    """A property of a program as text, or why it has none."""

    text: str = ""
    problem: str = ""


class PropertyList(msgspec.Struct, frozen=True):
    """The values of properties, in the order in which they were asked for."""

    values: tuple[PropertyValue, ...]


class SimulatedBuffer(msgspec.Struct, frozen=True):
    """A parameter that the function may write, as it is in the end."""

    name: str
    text: str
    undefined: int
    """How many of its elements nothing wrote, or were written undefined."""


class AccessRow(msgspec.Struct, frozen=True):
    """What one access in the program costs on a GPU, in the first block of a launch."""

    text: str
    line: int
    way: str
    kind: str
    """"shared" or "global"."""
    conflict: int = 0
    """Of shared memory: the largest number of words that lanes wanted of one bank at once; 1 is none."""
    sectors: float = 0
    """Of global memory: how many sectors of 32 bytes a warp moves in the mean."""
    used: float = 1
    """Of global memory: which part of the bytes that are moved is used."""


class Simulation(msgspec.Struct, frozen=True):
    """What came of a simulated launch; `archive` holds the buffers that were written as npz (`out_0`, `out_1`, ...)."""

    entry: str
    launches: tuple[str, ...]
    """The grids, such as `2 blocks of 256 threads`."""
    written: tuple[SimulatedBuffer, ...]
    archive: bytes
    problems: tuple[Problem, ...]
    rendered: tuple[str, ...]
    """The findings as the command prints them."""
    is_clean: bool
    """Whether nothing was found but what makes no difference to the result."""
    accesses: tuple[AccessRow, ...] = ()
    roofline: RooflineOf | None = None
    """What the launches are bound by, if there are any."""

    def to_text(self) -> str:
        """Return what the command prints: findings, launches, buffers, what bounds them, and the verdict."""
        lines = [f"`{self.entry}` launched {item}" for item in self.launches]
        for item in self.written:
            tail = f"  ({item.undefined:,} undefined)" if item.undefined else ""
            lines.append(f"{item.name}: {item.text}{tail}")
        bound = [] if self.roofline is None else [self.roofline.text]
        return "\n".join((*lines, *self.rendered, *bound, self.verdict))

    @property
    def verdict(self) -> str:
        """What may be said: indices and branches that depend on values are those of these inputs."""
        if self.is_clean and not self.launches:
            return "clean on these inputs, in the order of its loops: it launches nothing yet, so nothing is shared"
        if self.is_clean:
            return (
                "clean on these inputs: what threads share is ordered, in range and defined, and all meet at barriers"
            )
        count = sum(item.severity != "note" for item in self.problems)
        return f"not clean: {count} finding{'' if count == 1 else 's'} on these inputs"
