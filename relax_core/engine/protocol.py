"""The messages between the server or the command line and a worker: typed, versioned, without pickle.

Every request carries the whole `Program` that it is about, so a fresh worker can answer it. A request class names
its reply: `class GraphOf(Request[Graph])`. A frame is an `Envelope` one way and an `Answer` the other.
"""

from collections.abc import Callable
from typing import Literal, TypeAlias

import msgspec

from relax_core.engine.debug.requests import (
    AnyDebugRequest,
    AnyInsideRequest,
    AnyMomentRequest,
    AnyRecordedRequest,
    SimulateOf,
)
from relax_core.engine.programs.program import Program
from relax_core.engine.replies import (
    REPORT_PARTS,
    Appearances,
    CostsView,
    EffectsView,
    Executed,
    Found,
    Listing,
    Measured,
    OpenedRun,
    PropertyList,
    ReportFile,
    ReportPart,
    Restored,
    RewriteView,
    SampleList,
    SavedRun,
    Stages,
    StageView,
    Stop,
    TensorPage,
    Text,
)
from relax_core.engine.request import Request
from relax_core.present.catalog_of.catalog_models import Catalog, Explanations, Form, Sheet, Tried, Vocabulary
from relax_core.present.device_models import DeviceOptions, DevicesView, WhyDevice
from relax_core.present.editing.pipeline_models import PipelineForm
from relax_core.present.grammar import GrammarName
from relax_core.present.kernel_models import KernelPlans, KernelView, ScheduleTable, StepTable
from relax_core.present.models import Code, Film, Graph, Inspector, Pipeline, Problem, SourceView, Structure
from relax_core.present.nodes.origin_models import Origins
from relax_core.present.regions.partition_models import Lets, PartitionView, PatternList
from relax_core.present.regions.region_models import RegionReport
from relax_core.present.running.moment_models import Logs
from relax_core.present.running.run_models import Breakpoint, CallAt, PointList, Run

RELEASE = "0.1"
"""The version of RelaxScope, as `pyproject.toml` has it."""
VERSION = 1


class Open(Request[SourceView], frozen=True):
    """Parse and check: the Source page."""

    program: Program


class GraphOf(Request[Graph], frozen=True):
    """The graph of a function at a stage (0: the source), or of the whole module if `function` is empty.

    `opened` are the `group` names of folded nodes that are shown open, `shown` nodes whose groups are in a function's.
    Without `has_types` it has the declared types alone, without `has_faults` no error; if `is_bare`, no weights.
    """

    program: Program
    stage: int = 0
    function: str = ""
    opened: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    has_types: bool = True
    has_faults: bool = True
    is_bare: bool = False


class PipelineOf(Request[Pipeline], frozen=True):
    """Run the passes: the list of stages."""

    program: Program


class StageOf(Request[StageView], frozen=True):
    """The text of a stage beside the text before it."""

    program: Program
    stage: int = 0


class RewriteOf(Request[RewriteView], frozen=True):
    """What one rewrite of a stage makes of the module, or what all the others make of it without that one."""

    program: Program
    stage: int
    number: int
    """As in the list of the stage's rewrites."""
    is_left_out: bool = False


class EffectsOf(Request[EffectsView], frozen=True):
    """Which passes would change the module at a stage, which do so again, and which two can change places."""

    program: Program
    stage: int = 0


class CostsOf(Request[CostsView], frozen=True):
    """What one call of the entry costs at each stage, and which operators each pass added and removed."""

    program: Program


class MeasuredOf(Request[Measured], frozen=True):
    """Count what the passes of a program leave of its module: operators, regions, and what a call costs."""

    program: Program


class CompareGraph(Request[Graph], frozen=True):
    """One union graph of the module before and after a stage, of `functions` or else of those that changed."""

    program: Program
    stage: int
    functions: tuple[str, ...] = ()
    opened: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    is_bare: bool = False


class StageStructureOf(Request[Structure], frozen=True):
    """What a pass did to the parts of the module: functions, bindings, loops, by what it recorded."""

    program: Program
    stage: int


class StructureOf(Request[Structure], frozen=True):
    """What makes the parts of one module those of another, as far as they match."""

    program: Program
    other: Program


class FilmOf(Request[Film], frozen=True):
    """The graphs of all stages in one layout, in which what a pass leaves alone stays where it is."""

    program: Program


class Inspect(Request[Inspector], frozen=True):
    """What is known of a `NodeId`; if `is_followed` up to its instructions, without `has_types` no inferred type."""

    program: Program
    node: str
    is_followed: bool = True
    has_types: bool = True


class RunOf(Request[Run], frozen=True):
    """Run the program and record it: the first window, or the one that holds `event`."""

    program: Program
    event: int = 0


class CallAtOf(Request[CallAt], frozen=True):
    """Look at the call that a run makes at a time, or next in the binding."""

    program: Program
    time: int


class StopOf(Request[Stop], frozen=True):
    """Continue from `time` to the next of `breakpoints`, to the previous one if `is_back`.

    The whole run is searched, not the window that is shown. Without a hit the answer is its end, or its start.
    """

    program: Program
    time: int
    breakpoints: tuple[Breakpoint, ...] = ()
    is_back: bool = False


class HitsOf(Request[PointList], frozen=True):
    """Evaluate the conditions of `breakpoints` at every hit of the run; the times in `[first, last)` are listed."""

    program: Program
    breakpoints: tuple[Breakpoint, ...]
    first: int = 0
    last: int = 0


class LogsOf(Request[Logs], frozen=True):
    """Write the messages of those of `breakpoints` that have one, at every hit of the run."""

    program: Program
    breakpoints: tuple[Breakpoint, ...]


class ValueOf(Request[TensorPage], frozen=True):
    """A page of the tensor in a register of the frame at `depth` (0: the oldest) at `time`.

    The last two axes are rows and columns; `leading` picks the others.
    """

    program: Program
    time: int
    depth: int
    register: int
    row: int = 0
    column: int = 0
    leading: tuple[int, ...] = ()


class Asm(Request[Listing], frozen=True):
    """The bytecode of the program, or the LLVM IR or assembly of one of its kernels, or what the compiler did to it.

    As "plan": the loop nest behind each transformation. As "steps": what each is worth, which is measured.
    """

    program: Program
    form: Literal["bytecode", "llvm", "asm", "remarks", "plan", "steps"] = "bytecode"
    kernel: str = ""
    without: tuple[str, ...] = ()
    """Transformations of kernels that are switched off."""
    sizes: tuple[tuple[str, int], ...] = ()
    """Of the symbols of the kernel, for remarks, plans and steps."""


class KernelOf(Request[KernelView], frozen=True):
    """A kernel of the program in TIR, LLVM IR and machine code, linked line by line; empty: the first one.

    It is compiled for `sizes` of its symbols, or for any while one of them is missing, `without` some transformations.
    """

    program: Program
    kernel: str = ""
    sizes: tuple[tuple[str, int], ...] = ()
    without: tuple[str, ...] = ()


class StepCostsOf(Request[StepTable], frozen=True):
    """Time a kernel on made-up arguments with all transformations but `without`, and without each of them besides.

    Sizes that are not given are those of the program.
    """

    program: Program
    kernel: str = ""
    sizes: tuple[tuple[str, int], ...] = ()
    without: tuple[str, ...] = ()


class ScheduleOf(Request[ScheduleTable], frozen=True):
    """Apply the steps of a schedule to a kernel, and time it behind each of them, beside what the compiler makes of it.

    `schedule` is a pipeline of primitives, such as `Split(block='C', loop='i', factors=[None, 8])`. With `tvm` the
    reply has the kernels in the words of that version of apache-tvm, and what they are called on.
    """

    program: Program
    kernel: str = ""
    sizes: tuple[tuple[str, int], ...] = ()
    schedule: str = ""
    tvm: Literal["", "0.25", "0.27"] = ""


class PlansOf(Request[KernelPlans], frozen=True):
    """What each transformation of a kernel plans, as a loop nest of TIR, for `sizes` of its symbols."""

    program: Program
    kernel: str = ""
    sizes: tuple[tuple[str, int], ...] = ()
    without: tuple[str, ...] = ()


class FoundInStages(Request[Appearances], frozen=True):
    """Look for a name, or any other text, in what every pass made."""

    program: Program
    text: str


class OriginsOf(Request[Origins], frozen=True):
    """Which lines of the source every line of what the program becomes stems from.

    The LLVM IR and machine code are among it of the kernels that `line` became, and of the one that `layer` names.
    """

    program: Program
    line: int = 0
    layer: str = ""


class Ast(Request[Code], frozen=True):
    """The tree of nodes as text, at a stage."""

    program: Program
    stage: int = 0


class Script(Request[Text], frozen=True):
    """The module as text after the passes of `program.pipeline`; with `passes` false, as parsed.

    For TVMScript, `spelling` is 2026, 2025, 2023 or 2022; `tvm`, if it is given, decides the spelling.
    An empty `dialect` is the language of the module: TVMScript or Relay. With `reads_back` what was printed is read
    again and compared with the module; "ast" is a form that nothing reads.
    """

    program: Program
    dialect: Literal["", "tvmscript", "relay", "ast"] = ""
    spelling: Literal["2026", "2025", "2023", "2022"] = "2026"
    passes: bool = False
    tvm: Literal["", "0.25", "0.27"] = ""
    reads_back: bool = False


class Check(Request[Found], frozen=True):
    """Parse and check every module of a text; `prims` is the policy for host scalars."""

    program: Program
    prims: Literal["everywhere", "packed_only"] = "everywhere"


class Opt(Request[Stages], frozen=True):
    """Run the passes and print each stage."""

    program: Program


class Execute(Request[Executed], frozen=True):
    """Run on the inputs of the program, and return what it printed and its result."""

    program: Program


class PartitionOf(Request[PartitionView], frozen=True):
    """Partition the module of a program with its tables: the Partition page.

    `targets` in order of preference, all of the tables if there are none. `PartitionView.pipeline` leads to the graphs.
    """

    program: Program
    targets: tuple[str, ...] = ()
    lets: Lets = "values"
    through_lets: bool = False
    names: tuple[str, ...] = ()
    """The lets that regions are merged through; empty: all."""


class RegionReportOf(Request[RegionReport], frozen=True):
    """Partition as `PartitionOf` does, and report the regions only."""

    program: Program
    targets: tuple[str, ...] = ()
    lets: Lets = "values"
    through_lets: bool = False
    names: tuple[str, ...] = ()
    """The lets that regions are merged through; empty: all."""


class PatternsOf(Request[PatternList], frozen=True):
    """Tell where the patterns of a program's tables fit, and what came closest."""

    program: Program


class DevicesOf(Request[DevicesView], frozen=True):
    """Plan the devices of a Relay module: the Devices page. Its marks are for the graphs of stage 0."""

    program: Program
    options: DeviceOptions = DeviceOptions()


class WhyDeviceOf(Request[WhyDevice], frozen=True):
    """The whole chain of constraints of a node of stage 0, named by the text of its `NodeId`."""

    program: Program
    node: str
    options: DeviceOptions = DeviceOptions()


class Operators(Request[Catalog], frozen=True):
    """List the operators and the packed functions: the Operators page."""


class PipelineFormOf(Request[PipelineForm], frozen=True):
    """The pipeline of a program as a list, and the passes that may be added to it."""

    program: Program


class VocabularyOf(Request[Vocabulary], frozen=True):
    """The words that a text may use, with what they mean: what the editor offers."""

    language: GrammarName = "tvmscript"


class ExplanationsOf(Request[Explanations], frozen=True):
    """What names of passes on `language`, diagnostics, operators, instructions, remarks and of the glossary mean."""

    names: tuple[str, ...]
    language: Literal["", "relax", "relay"] = ""


class SheetOf(Request[Sheet], frozen=True):
    """All that is known of the operator `name`, such as `nn.relu`, or of a packed function, `packed/NAME`."""

    name: str
    form: Form = "tir"


class Try(Request[Tried], frozen=True):
    """Run an example on made-up arguments, and show these and the result."""

    program: Program


class PropertiesOf(Request[PropertyList], frozen=True):
    """Evaluate properties of a program, such as `shape of y` or `launches after FuseOps`: docs/lessons.md lists them.

    Those that end in `now` or speak of what is shown are about the screen: its `stage`, `time` and `node`, and the
    `clock` of the kernel that was gone into.
    """

    program: Program
    properties: tuple[str, ...]
    stage: int = -1
    time: int = -1
    node: str = ""
    clock: int = -1


class RestoreLayout(Request[Restored], frozen=True):
    """Restore the layout of a pasted text."""

    text: str


class Samples(Request[SampleList], frozen=True):
    """List the sample programs with their texts."""


class SavedRunOf(Request[SavedRun], frozen=True):
    """Run the program, with its changes, and write every event of the run as a trace."""

    program: Program


class OpenedRunOf(Request[OpenedRun], frozen=True):
    """Read a trace with a run of this machine; nothing is run."""

    name: str
    content: bytes


class ReportOf(Request[ReportFile], frozen=True):
    """Write all that there is to see of the program as one HTML file that opens anywhere and loads nothing."""

    program: Program
    notes: str = ""
    parts: tuple[ReportPart, ...] = REPORT_PARTS
    date: str = ""
    """When it was made, as it is to be shown, and with it what was timed; empty: the same program, the same bytes."""
    command: str = ""
    limit_bytes: int = 0
    """What the file may take; 0: as much as any report. `command` makes it again; empty: as the program says."""


AnyRequest: TypeAlias = (
    Open
    | GraphOf
    | PipelineOf
    | StageOf
    | RewriteOf
    | EffectsOf
    | CostsOf
    | MeasuredOf
    | CompareGraph
    | FilmOf
    | StageStructureOf
    | StructureOf
    | Inspect
    | RunOf
    | CallAtOf
    | StopOf
    | HitsOf
    | LogsOf
    | ValueOf
    | Asm
    | KernelOf
    | StepCostsOf
    | ScheduleOf
    | PlansOf
    | OriginsOf
    | FoundInStages
    | Ast
    | Script
    | Check
    | Opt
    | Execute
    | PartitionOf
    | RegionReportOf
    | PatternsOf
    | DevicesOf
    | WhyDeviceOf
    | Operators
    | PipelineFormOf
    | VocabularyOf
    | ExplanationsOf
    | SheetOf
    | Try
    | PropertiesOf
    | RestoreLayout
    | ReportOf
    | Samples
    | AnyDebugRequest
    | AnyRecordedRequest
    | SavedRunOf
    | OpenedRunOf
    | SimulateOf
    | AnyInsideRequest
    | AnyMomentRequest
)


class Cancel(msgspec.Struct, frozen=True, tag=True):
    """Stop the request `target`; it is answered by a `Failure` of kind `cancelled`."""

    target: int


class Envelope(msgspec.Struct, frozen=True):
    """A frame to the worker."""

    id: int
    body: AnyRequest | Cancel
    version: int = VERSION


class Progress(msgspec.Struct, frozen=True):
    """How far a request has come, such as `Running CallTIRRewrite`, 7 of 12."""

    text: str
    done: int = 0
    total: int = 0
    seconds: float = 0.0
    """Since the request began; the client sets it, by its own clock."""
    limit_seconds: float = 0.0
    """After these the request is stopped; the client sets it."""


Report: TypeAlias = Callable[[Progress], None]
"""Told how far a request has come."""


class Failure(msgspec.Struct, frozen=True):
    """Why there is no reply. `title` and `message` are shown as they are, `rendered` are the diagnostics as text."""

    kind: Literal["diagnosed", "limit", "cancelled", "crash", "internal"]
    title: str
    message: str = ""
    problems: tuple[Problem, ...] = ()
    rendered: str = ""
    is_restarted: bool = False
    """The worker was lost; the next request starts a fresh one."""

    @property
    def problem(self) -> Problem:
        """The first diagnostic, or what ended the request as one."""
        return self.problems[0] if self.problems else Problem("error", "", self.message or self.title)


class Hello(msgspec.Struct, frozen=True):
    """The first frame of a worker: what confines it. It is sent again when the worker has loaded more of itself."""

    sandbox: tuple[str, ...]
    versions: str
    version: int = VERSION
    share: float = 0.0
    """How much of its limits the process takes before it works on a program, see `Answer`."""


class Answer(msgspec.Struct, frozen=True):
    """A frame from the worker; `body` is a `Progress`, a `Failure`, a `Hello` or the reply of the request."""

    id: int
    kind: Literal["reply", "progress", "failure", "hello"]
    body: msgspec.Raw
    version: int = VERSION
    share: float = 0.0
    """How much of its memory, or of an inherited processor time, the worker has taken: 0 to 1."""
