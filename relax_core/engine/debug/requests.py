"""Requests about recorded pipelines, and those that look for faults in a run."""

from typing import Final, Literal, TypeAlias

import msgspec

from relax_core.engine.debug.replies import (
    Bisection,
    CallsCompared,
    ChromeTrace,
    Dumped,
    FormRuns,
    Profiled,
    ReadInputs,
    Reproduced,
    Stopped,
    ValuesCompared,
)
from relax_core.engine.debug.tolerance import Closeness
from relax_core.engine.halving.reply import Budget
from relax_core.engine.programs.program import NOTHING, Against, Program
from relax_core.engine.replies import (
    Appearances,
    CostsView,
    Crash,
    OwnPass,
    RecordedFaults,
    RecordedFiles,
    RecordedFunctions,
    RecordedInputs,
    RecordedTexts,
    RecordedView,
    Simulation,
    Stop,
    TraceFile,
)
from relax_core.engine.request import Request
from relax_core.present.models import Graph, LineHeat, Structure
from relax_core.present.nodes.origin_models import NodeLife, Origins
from relax_core.present.running.inside_models import HeatView, InsideReport, InsideView
from relax_core.present.running.memory_models import MemoryView
from relax_core.present.running.moment_models import (
    FrameView,
    Histories,
    Measure,
    Parts,
    Stack,
    TensorFile,
    TensorView,
    Texts,
)
from relax_core.present.running.run_models import Breakpoint, PointList


class BisectOf(Request[Bisection], frozen=True):
    """Run the module after each pass on the same arguments and find the first pass that changes a result.

    With `others` the candidates are the modules of these programs, in order, and not the stages of the pipeline: such
    as the texts that another compiler printed after its passes.
    """

    program: Program
    others: tuple[Program, ...] = ()
    closeness: Closeness = Closeness()
    budget: Budget = Budget()
    numbers: tuple[int, ...] = ()
    """What a recording calls the stages of these programs; empty: they are counted from 0."""
    until: int = 0
    """Judge the first so many forms, and keep what came of them for the same request with more or all; 0: all."""
    ahead: FormRuns | None = None
    """What came of the forms behind those that were kept, which are judged without being run here."""


class CompareValuesOf(Request[ValuesCompared], frozen=True):
    """Compare the values of bindings of two runs by name: of a program after two stages, or of two programs.

    Only variables that are in the text of both count, for passes make names of their own. A stage of -1 is the end of
    the pipeline.
    """

    program: Program
    stage: int
    other: Program
    other_stage: int
    closeness: Closeness = Closeness()


class CompareArchiveOf(Request[ValuesCompared], frozen=True):
    """Compare the values of bindings with those of an npz archive, such as one that another compiler's run wrote.

    Its arrays are named as `DumpOf` names them, `FUNCTION.VARIABLE`, or by the variable alone.
    """

    program: Program
    archive: bytes
    closeness: Closeness = Closeness()


class DumpOf(Request[Dumped], frozen=True):
    """Run and collect the value of every binding, as it was when it was bound."""

    program: Program


class StopsOf(Request[Stopped], frozen=True):
    """Run and print the stack at the first `limit` stops of breakpoints, in the order of time."""

    program: Program
    breakpoints: tuple[Breakpoint, ...]
    limit: int = 1


class ProfileOf(Request[Profiled], frozen=True):
    """Run several times and say which lines take how long."""

    program: Program


Quantity: TypeAlias = Literal["time", "bytes", "operations", "values"]


class LineHeatOf(Request[LineHeat], frozen=True):
    """Say of each line what it takes of a quantity: counted from the program, or measured in a run."""

    program: Program
    quantity: Quantity


class ChromeTraceOf(Request[ChromeTrace], frozen=True):
    """Run on compiled kernels and write when each call began and ended, in the Chrome trace format."""

    program: Program


class MemoryOf(Request[MemoryView], frozen=True):
    """Run and say which storages and tensors lived when, what shared them, and what was used too late."""

    program: Program


class Parcel(msgspec.Struct, frozen=True):
    """A recording as it is sent to the worker: its name, and a trace, or a zip of its files.

    `constants` is an npz archive of tensors that its texts refer to and that it does not hold; empty: none are given.
    """

    name: str
    content: bytes
    constants: bytes = b""


class RecordedOf(Request[RecordedView], frozen=True):
    """Open a recording: the list of its stages."""

    parcel: Parcel


class RecordedFaultsOf(Request[RecordedFaults], frozen=True):
    """Read and check every form of the program."""

    parcel: Parcel


class RecordedCostsOf(Request[CostsView], frozen=True):
    """Count what one call costs in each form of the program, with the entry and the sizes of `options`."""

    parcel: Parcel
    options: Program


class RecordedTextsOf(Request[RecordedTexts], frozen=True):
    """Set the texts of two stages side by side, given by their positions."""

    parcel: Parcel
    left: int
    right: int


class RecordedFilesOf(Request[RecordedFiles], frozen=True):
    """Write the files that are saved of two stages, given by their positions."""

    parcel: Parcel
    left: int
    right: int


class RecordedFunctionsOf(Request[RecordedFunctions], frozen=True):
    """List the functions of two stages, given by their positions."""

    parcel: Parcel
    left: int
    right: int


class RecordedGraphOf(Request[Graph], frozen=True):
    """One union graph of two stages: of the Relax functions that differ, or of the prim func `function`."""

    parcel: Parcel
    left: int
    right: int
    function: str = ""
    opened: tuple[str, ...] = ()
    """The groups of the Relax functions that are open."""


class RecordedStructureOf(Request[Structure], frozen=True):
    """What makes the parts of one stage those of another, given by their positions, as far as they match."""

    parcel: Parcel
    left: int
    right: int


class RecordedInputsOf(Request[RecordedInputs], frozen=True):
    """List what can run and what it takes; `options` is a program without a text."""

    parcel: Parcel
    options: Program


class OwnPassOf(Request[OwnPass], frozen=True):
    """Run our pass of the name that the stage at `position` has on the form before it, and compare what both made.

    `options` is a program without a text: how the modules are entered and run, if their texts are not equal.
    """

    parcel: Parcel
    position: int
    options: Program


class TraceOf(Request[TraceFile], frozen=True):
    """Write a recording as a trace, with the constants that were given for it."""

    parcel: Parcel


class AppearancesOf(Request[Appearances], frozen=True):
    """Look for a name, or any other text, in every form of the program."""

    parcel: Parcel
    text: str


class LifeOf(Request[NodeLife], frozen=True):
    """Follow a part of the program through a recording: what begins in a line of the stage at a position.

    With `name` it is what is called that in the stage, `function.name` or the name of a function.
    """

    parcel: Parcel
    position: int
    line: int = 0
    name: str = ""


class RecordedOriginsOf(Request[Origins], frozen=True):
    """Which lines of the stage at a position every line of every form of the program is linked to.

    With `line`, only what that line is linked to.
    """

    parcel: Parcel
    position: int
    line: int = 0


class RecordedCallsOf(Request[CallsCompared], frozen=True):
    """Compare each call of a recorded run with what the machine computes by the same stage, and with NumPy.

    With `is_fed` each call is made on the arguments that were recorded, else the machine runs from the same inputs.
    """

    parcel: Parcel
    run: int = 0
    is_fed: bool = True
    closeness: Closeness = Closeness()


class CrashOf(Request[Crash], frozen=True):
    """Explain what stopped a recorded compiler, or a run of what it made: what is wrong with the module before it."""

    parcel: Parcel


class BisectRecordedOf(Request[Bisection], frozen=True):
    """Run every form of the program that a recorded pipeline holds, and find the first pass that changed a result.

    `trace` is the pipeline as `.rxt`, so that texts are sent compressed and constants once, or a zip of its files.
    `options` is a program without a text: how each form is entered and run. Without inputs or sizes of its own it runs
    on those of a recorded run, if there is one. `constants` is an npz archive of tensors that the trace does not hold.
    """

    trace: bytes
    options: Program
    closeness: Closeness = Closeness()
    constants: bytes = b""
    budget: Budget = Budget()
    until: int = 0
    ahead: FormRuns | None = None
    """With `until`: for the work of two workers, see `BisectOf`; the second one is asked `RunFormsOf`."""

    @property
    def parcel(self) -> Parcel:
        """The recorded pipeline."""
        return Parcel("the trace", self.trace, self.constants)


class RunFormsOf(Request[FormRuns], frozen=True):
    """Run forms of a recorded pipeline, from number `first` on, for a bisection that judges them.

    That form must be a whole one, whatever stands before it. `until` is the number of the first that is left out; 0:
    all behind are run.
    """

    recorded: BisectRecordedOf
    first: int
    until: int = 0


class ReproducerOf(Request[Reproduced], frozen=True):
    """Write a file that shows the first difference with apache-tvm and numpy alone.

    `found` is what the bisection came to; without it the forms are run and compared again.
    """

    bisect: BisectOf | BisectRecordedOf
    found: Bisection | None = None


class SimulateOf(Request[Simulation], frozen=True):
    """Run a prim func that launches threads on a simulated GPU, and say what is wrong with what it does to memory.

    `machine` is a GPU against which the launches are measured, see `machine_of`; empty for the default one.
    """

    program: Program
    machine: str = ""


HeatKind = Literal["count", "age", "value", "owner"]
"""`owner`: the thread that wrote each element last, of a launch."""
HeatSpan = Literal["so_far", "whole", "iteration"]
WarpOrder = Literal["forward", "backward", "turns"]


class ThreadsOf(msgspec.Struct, frozen=True):
    """Which threads of a kernel that launches some are stepped through, and in which order its warps go on.

    `order` is `forward` or `backward`, one warp up to the next barrier and then the next one, or `turns`, a statement
    each; with a `seed` which one goes on is random.
    """

    launch: int = 0
    block: int = 0
    thread: int = 0
    order: WarpOrder = "forward"
    seed: int = -1


FIRST_THREAD: Final = ThreadsOf()


class KernelCall(msgspec.Struct, frozen=True):
    """Which call of a kernel is meant: the one that is about to run at `time` of the recorded run.

    With time -1 it is the prim func `name` on made-up or given arguments, or the first call of it in the run if the
    module has functions that call kernels; with no name the entry of the program, or the first kernel that is called.
    """

    program: Program
    name: str = ""
    time: int = -1
    threads: ThreadsOf = FIRST_THREAD


class InsideOf(Request[InsideView], frozen=True):
    """Go before statement `clock` of a kernel, make the moves, and show what stands there."""

    kernel: KernelCall
    clock: int = 0
    moves: tuple[str, ...] = ()
    window: int = 0
    """How many statements around the one that is come to are shown as well."""
    watches: tuple[str, ...] = ()
    """Expressions, as in conditions, whose values are shown."""


class HeatOf(Request[HeatView], frozen=True):
    """Show a window of a buffer while the kernel stands before statement `clock`.

    `axes` are those of the rows and of the columns, the last two if it is empty; `fixed` are the indices in the others.
    """

    kernel: KernelCall
    clock: int
    buffer: str
    what: HeatKind = "count"
    spell: HeatSpan = "so_far"
    loop: int = -1
    """The loop whose iteration is meant by `iteration`."""
    statement_line: int = 0
    """Only what the statements of this line touch; 0: of all."""
    axes: tuple[int, ...] = ()
    fixed: tuple[int, ...] = ()
    top: int = 0
    left: int = 0
    rows: int = 64
    columns: int = 64


class InsideReportOf(Request[InsideReport], frozen=True):
    """Count what a kernel does to memory, access by access.

    `machine` is a GPU against which launches are measured, see `machine_of`; empty for the default one.
    """

    kernel: KernelCall
    machine: str = ""


class StackOf(Request[Stack], frozen=True):
    """Show frames of the stack at a time, at most `limit` from number `first` on; 0 is the one that runs."""

    program: Program
    time: int
    first: int = 0
    limit: int = 100


class FrameOf(Request[FrameView], frozen=True):
    """Show what the frame at `depth` (0: the oldest) holds at a time."""

    program: Program
    time: int
    depth: int


class PartsOf(Request[Parts], frozen=True):
    """Evaluate an expression, as in conditions, in the frame at `depth`; `path` leads to a part of its value.

    Of its own parts, at most `limit` come from number `first` on.
    """

    program: Program
    time: int
    depth: int
    expression: str
    path: tuple[int, ...] = ()
    first: int = 0
    limit: int = 0


Step = Literal["into", "over", "out", "back", "back_over", "back_out"]


class TensorOf(Request[TensorView], frozen=True):
    """Show a window of the plane of two axes of a tensor, which an expression names in the frame at `depth`.

    `against` says what it is compared with.
    """

    program: Program
    time: int
    depth: int
    expression: str
    axes: tuple[int, ...] = ()
    """Those of the rows and of the columns; the last two if it is empty."""
    fixed: tuple[int, ...] = ()
    """The index in every other axis."""
    top: int = 0
    left: int = 0
    rows: int = 24
    columns: int = 12
    against: Against = NOTHING
    measure: Measure = "value"
    search: str = ""
    """A number: the window moves to the next element behind its first one that is equal to it."""


class TensorFileOf(Request[TensorFile], frozen=True):
    """Write a whole tensor, which an expression names in the frame at `depth`, as a .npy file.

    With `tvm` the call of the kernel that computed it is written, in the words of that version of apache-tvm.
    """

    program: Program
    time: int
    depth: int
    expression: str
    tvm: Literal["", "0.25", "0.27"] = ""


class InputFile(msgspec.Struct, frozen=True):
    """A file for a parameter, or an archive for several.

    Without `param` it is for the parameter that has the name of the file, or for the first that takes such a one.
    """

    name: str
    content: bytes
    param: str = ""


class InputsOf(Request[ReadInputs], frozen=True):
    """Read files for the parameters of the function that runs; the others get made-up values.

    `vocabulary` is a file with the tokens of texts; empty: a text becomes its bytes. With a recording the function is
    that of its first form, and `program` says without a text how it is entered.
    """

    program: Program
    files: tuple[InputFile, ...]
    vocabulary: bytes = b""
    recording: Parcel | None = None


class StepOf(Request[Stop], frozen=True):
    """Make a step of the debugger, `by` bindings or instructions."""

    program: Program
    time: int
    step: Step
    by: Literal["binding", "instruction"] = "binding"


class StopPlace(Breakpoint, frozen=True):
    """A breakpoint that may stand at the entry of a function, or at the writes to a register of it as well."""

    function: str = ""
    register: int = -1
    """Stop behind each write to this register of `function`; -1: where the function is entered."""


AT_NAN: Final = "isnan(written) or isinf(written)"
"""The condition of a breakpoint behind whatever writes a NaN or an infinity."""


class StopTimesOf(Request[PointList], frozen=True):
    """List all times of the run at which breakpoints stop, as far as their conditions hold."""

    program: Program
    places: tuple[StopPlace, ...]


class TextsOf(Request[Texts], frozen=True):
    """Evaluate expressions, as in conditions, at several times of the run, each in the frame that runs then."""

    program: Program
    expressions: tuple[str, ...]
    times: tuple[int, ...]


class HistoriesOf(Request[Histories], frozen=True):
    """Evaluate expressions, as in conditions, over the whole run, each in the frame that runs at the time."""

    program: Program
    expressions: tuple[str, ...]


AnyMomentRequest: TypeAlias = (
    ChromeTraceOf
    | LineHeatOf
    | HistoriesOf
    | InputsOf
    | TensorOf
    | TensorFileOf
    | TextsOf
    | StackOf
    | FrameOf
    | PartsOf
    | StepOf
    | StopTimesOf
)
AnyInsideRequest: TypeAlias = InsideOf | HeatOf | InsideReportOf
AnyDebugRequest: TypeAlias = MemoryOf | BisectOf | CompareValuesOf | CompareArchiveOf | DumpOf | StopsOf | ProfileOf
AnyRecordedRequest: TypeAlias = (
    RecordedOf
    | RecordedCostsOf
    | RecordedFaultsOf
    | RecordedTextsOf
    | RecordedFilesOf
    | RecordedFunctionsOf
    | RecordedGraphOf
    | RecordedStructureOf
    | RecordedInputsOf
    | RecordedOriginsOf
    | RecordedCallsOf
    | OwnPassOf
    | TraceOf
    | AppearancesOf
    | LifeOf
    | CrashOf
    | BisectRecordedOf
    | RunFormsOf
    | ReproducerOf
)
