"""View models: what presenters fill in and components show, in strings, numbers and tuples of them.

Common rules, so that no component has to think:

- Lines and columns count from 1, in code points; an `end_column` is exclusive. Line 0 means "nowhere".
- A node is named by its id as text (`NodeId` written out); the empty string means "no node".
- A time is the number of events retired so far: at time `t` the event `t` is the next to retire.
- Colours are token names of `tokens.json` (`cat0`, `synKeyword`), never hex values.
- Text is raw user text: components put it on the screen with `textContent` only.
- A model goes to a component as `msgspec.json.encode(model)`. Classes with `array_like` are JSON arrays
  whose order is the order of their fields.

The models of a recorded run (the stepper) are in `run_models`.
"""

from collections.abc import Iterator
from typing import Literal

import msgspec

Syntax = Literal[
    "", "synKeyword", "synName", "synString", "synNumber", "synType", "synComment", "synDecor", "text2", "text3"
]
Severity = Literal["error", "warning", "note"]
Mark = Literal["added", "removed", "changed", "moved", "unchanged"]
Side = Literal["before", "after", "both"]
NameKind = Literal["function", "variable", "dimension"]
Kind = Literal[
    "tensor", "tensor0", "prim", "shape", "tuple", "closure", "adt", "string", "dtype", "object", "void", "unwritten"
]
Tone = Literal["", "ok", "error", "warning", "accent", "added", "removed", "changed", "moved", "cat0", "code"]


class Token(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A run of characters of one line with one look.

    A long text has tens of thousands, and none is in a cycle: they, lines and rows are kept from the collector.
    """

    text: str
    syntax: Syntax = ""


class CodeLine(msgspec.Struct, frozen=True, gc=False):
    """One line as shown; a long line may be cut into a numbered one and continuation lines."""

    tokens: tuple[Token, ...]
    number: int = 0
    """Line number in the text; 0 for a continuation line (shown as an arrow) and for a header."""
    is_dim: bool = False
    """Not part of the program (skipped), or never executed: shown in `text3`, without syntax colours."""


class NodeRange(msgspec.Struct, frozen=True, array_like=True):
    """The text of one node; ranges nest, and the smallest one around the caret is selected."""

    node: str
    line: int
    column: int
    end_line: int
    end_column: int


class Elsewhere(msgspec.Struct, frozen=True):
    """A further place of a diagnostic, with what is to be said of it."""

    message: str
    line: int
    column: int


class Mend(msgspec.Struct, frozen=True):
    """A text in the place of another one, after which a problem is no more; in place of nothing it is inserted."""

    text: str
    title: str
    """What is offered, such as `Replace with R.nn.relu`."""
    line: int
    column: int
    end_line: int
    end_column: int


class Problem(msgspec.Struct, frozen=True):
    """A diagnostic with its place in the text."""

    severity: Severity
    code: str
    """Such as `TY012`."""
    message: str
    """One sentence; parts between backticks are shown as code."""
    hint: str = ""
    line: int = 0
    column: int = 0
    end_line: int = 0
    end_column: int = 0
    explanation: str = ""
    """The paragraph of `codes.py`, shown on demand."""
    node: str = ""
    excerpt: str = ""
    """The line of another text than the program's that the place is in: of the pipeline."""
    related: tuple[Elsewhere, ...] = ()
    mend: Mend | None = None
    """What mends the program, if that is known."""


class NameFact(msgspec.Struct, frozen=True, array_like=True):
    """A name that a program defines, as it is written there (`x`, `%x`, `@main`)."""

    name: str
    kind: NameKind
    type: str
    """Such as `(2, 3) f32`; empty if the checker does not know it."""
    line: int
    """Where it is defined; 0 for what has no place of its own, such as a symbolic dimension."""
    column: int
    first: int
    """The lines in which it is known: from here to `last`."""
    last: int


class Code(msgspec.Struct, frozen=True):
    """A text with its tokens, nodes and problems."""

    text: str
    """The whole text, exactly; the editor shows `lines` only while they belong to this text."""
    lines: tuple[CodeLine, ...] = ()
    """One per line of `text`; empty if the text was not tokenised (then the editor does it roughly)."""
    ranges: tuple[NodeRange, ...] = ()
    problems: tuple[Problem, ...] = ()
    language: Literal["tvmscript", "relay", "plain"] = "tvmscript"
    name: str = ""
    """File name or title of the pane."""
    names: tuple[NameFact, ...] = ()
    """What the program defines, for completion and hovers."""


class DiffSide(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One side of a row."""

    number: int
    """Line number; 0 for a continuation line."""
    mark: Mark
    text: str
    node: str = ""
    """Node that a click on the gutter selects."""
    differing: tuple[tuple[int, int], ...] = ()
    """From and to, in code points, of what the other side of a changed line lacks: shown on the row's token tint."""


class DiffRow(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Two lines beside each other; None is drawn as a hatched filler."""

    before: DiffSide | None
    after: DiffSide | None


class StructureRow(msgspec.Struct, frozen=True):
    """What became of a part of a module."""

    kind: Literal["added", "removed", "renamed", "moved", "changed"]
    part: str
    """Such as `binding` or `loop`."""
    function: str
    name: str
    """Its name behind, or before if it is gone: `lv → y` where that is another one; what it computes if it has none."""
    details: tuple[str, ...] = ()
    """What of it changed, or where it moved."""
    before_line: int = 0
    """Its line in the text before, 0 if it has none."""
    line: int = 0
    node: str = ""
    before_node: str = ""
    confidence: Literal["sure", "likely", "guess"] = "sure"
    """How well founded it is that the two are the same part."""


class Structure(msgspec.Struct, frozen=True):
    """What became of the parts of a module."""

    rows: tuple[StructureRow, ...]
    """The first of them, if there are very many."""
    counts: tuple[tuple[str, int], ...]
    """How many rows there are of each kind that there is."""
    conclusion: str
    """Such as `no structural change: only names differ` or `1 changed, 2 added`."""
    is_same: bool
    """Nothing but names of variables differs."""

    def to_text(self) -> str:
        """Write a line for each change, below the function that it is in, and the conclusion."""
        return "\n".join((*self._lines(), self.conclusion))

    def to_json(self) -> str:
        """Write one JSON object."""
        return msgspec.json.encode(self).decode()

    def _lines(self) -> Iterator[str]:
        function = ""
        for row in self.rows:
            if row.function != function:
                function = row.function
                yield f"@{function}" if function else "module"
            lines = " → ".join(f"line {line}" for line in dict.fromkeys((row.before_line, row.line)) if line)
            unsure = f" [{row.confidence}]" if row.confidence != "sure" else ""
            details = f": {'; '.join(row.details)}" if row.details else ""
            yield f"  {row.kind} {row.part} {row.name}{details}{unsure}{f' ({lines})' if lines else ''}"
        left = sum(count for _, count in self.counts) - len(self.rows)
        if left:
            yield f"and {left:,} more"


class Fold(msgspec.Struct, frozen=True, array_like=True):
    """A long run of unchanged rows, shown as one line that expands: `rows[first : first + count]`."""

    first: int
    count: int


class Diff(msgspec.Struct, frozen=True):
    """Two texts side by side, or one alone; whoever shows lines cuts them into tokens."""

    before_title: str
    """Such as `Before · Normalize`."""
    after_title: str
    """Empty if it is the same text, which stands alone."""
    rows: tuple[DiffRow, ...]
    folds: tuple[Fold, ...] = ()
    added_count: int = 0
    removed_count: int = 0
    changed_count: int = 0
    moved_count: int = 0
    is_unchanged: bool = False
    language: Literal["tvmscript", "relay"] = "tvmscript"


class GraphNode(msgspec.Struct, frozen=True):
    """What the graph component knows of a node beside its picture."""

    id: str
    """The `id` attribute of the node's group in the SVG."""
    title: str
    """Whole name, for the hover, the search and the aria label."""
    subtitle: str = ""
    node: str = ""
    """Node selected by a click; in a compare graph the one after the pass, if there is one."""
    before_node: str = ""
    """Compare graph: the node before the pass."""
    line: int = 0
    function: str = ""
    side: Side = "both"
    mark: Mark = "unchanged"
    group: str = ""
    """Name of the folded group that Enter opens; empty for a plain node."""
    fault: str = ""
    """The error that the program has here, with its code; empty if there is none."""
    name: str = ""
    """Of the variable that is bound here; empty if there is none."""
    is_call: bool = False
    """The title is the operator or the function that is called."""


class UnseenNode(msgspec.Struct, frozen=True, array_like=True):
    """What a node is searched by that is folded into a group, or counted at a user; the fields of a `GraphNode`."""

    box: str
    """The `GraphNode.id` of the group, or of the user; empty if it has none."""
    title: str
    subtitle: str
    node: str
    name: str
    is_call: bool
    way: int
    """The groups to be open for it to be drawn: a place in `Graph.ways`."""
    line: int = 0


class GraphEdge(msgspec.Struct, frozen=True, array_like=True):
    """An edge between two `GraphNode.id`, for neighbours and keyboard moves."""

    source: str
    target: str
    kind: str = "value"
    side: Side = "both"


class HeatMark(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What a line takes, and so the node that it computes."""

    level: int
    """1 to 5 on the scale, 0 for nothing, -1 for a NaN or an infinity."""
    short: str
    """The figure, such as `12.3 µs`."""
    words: str
    """What it is of, such as `Time: 12.3 µs, 41 % of the run, 3 times`."""


class LineHeat(msgspec.Struct, frozen=True):
    """What the lines of a program take of a quantity; a line without a mark has no figure."""

    title: str
    """The quantity with its unit, such as `Time, µs`."""
    scale: str = ""
    """What the levels are, such as `linear, to 48.2 µs`."""
    note: str = ""
    """What is counted how, and what is blank."""
    lines: tuple[tuple[int, HeatMark], ...] = ()
    nodes: tuple[tuple[str, HeatMark], ...] = ()
    """Of each line the binding, or the call, that begins in it first."""


class LegendEntry(msgspec.Struct, frozen=True):
    """A sign and what it means."""

    sign: str
    """A token of a category (`cat0`, `catNone`: its symbol in its colour), a `Mark` or `error` (its sign),
    or a line: `line`, `dash`, `dot`."""
    text: str


class Graph(msgspec.Struct, frozen=True):
    """A laid-out graph.

    `svg` holds groups `<g class="node ..." id=...>` and `<g class="edge ..." id=...>`; for a compare graph every
    mark's class list holds `before`, `after` or `both`, so that showing one side only hides marks.
    """

    svg: str
    nodes: tuple[GraphNode, ...] = ()
    edges: tuple[GraphEdge, ...] = ()
    legend: tuple[LegendEntry, ...] = ()
    title: str = ""
    """Such as `@relax_func`; the aria label of the picture."""
    node_count: int = 0
    """Of the whole graph, folded nodes counted."""
    is_folded: bool = False
    is_compare: bool = False
    dot: str = ""
    """The DOT text, for export; empty if there is none."""
    empty_title: str = "No graph"
    empty_text: str = ""
    """Shown with `empty_title` in place of the picture while `svg` is empty."""
    opened: tuple[tuple[str, str], ...] = ()
    """The groups that were opened, each with what it is called: they can be closed."""
    small_count: int = 0
    """How many weights, constants and nodes that compute shapes there are outside folded groups."""
    is_bare: bool = False
    """They are not drawn, but counted at their users."""
    unseen: tuple[UnseenNode, ...] = ()
    """The nodes that are not drawn; those of one box are in the order of the program."""
    ways: tuple[tuple[str, ...], ...] = ()


class FilmItem(msgspec.Struct, frozen=True, array_like=True):
    """A group of the picture that a frame shows: a node, an edge or a box."""

    id: str
    """The `id` attribute of the group in the SVG."""
    node: str = ""
    """The node that a click selects."""
    mark: Mark = "unchanged"
    """What the pass made of it."""
    is_gone: bool = False
    """It was there before the pass: a shadow of it stays for this one stage."""


class FilmFrame(msgspec.Struct, frozen=True):
    """What the picture shows at a stage, and at those behind it that leave the graph as it is."""

    items: tuple[FilmItem, ...]


class FilmStage(msgspec.Struct, frozen=True, array_like=True):
    """A stage of the pipeline, the source being number 0."""

    name: str
    frame: int
    """The number of its frame."""
    is_changed: bool
    """What is drawn is not what is drawn of the stage before."""
    words: str = ""
    """What the pass did to the graph, such as `2 added, 1 removed`."""


class Film(msgspec.Struct, frozen=True):
    """A graph through all stages, laid out once."""

    graph: Graph
    """The union of all stages; without a picture it says why there is none."""
    stages: tuple[FilmStage, ...] = ()
    frames: tuple[FilmFrame, ...] = ()
    places: tuple[int, ...] = ()
    """For each of the graph's nodes the number of its place; what a pass changes where it stands has several looks."""


class Stage(msgspec.Struct, frozen=True):
    """A line of the pipeline list."""

    index: int
    name: str
    is_changed: bool
    added_count: int = 0
    removed_count: int = 0
    change: str = ""
    """Replaces the counts, such as `attrs`; empty otherwise."""
    seconds: float = 0.0
    """Negative if there is no time to show (the source itself)."""
    remark_count: int = 0
    rewrite_count: int = 0
    node_count: int = 0
    problems: tuple[Problem, ...] = ()
    depth: int = 0
    """How many passes it ran inside of."""
    label: str = ""
    """The number to show, if its recording counts otherwise than `index` does."""
    mark: str = ""
    """What its problems come to, in two words; empty: the pass failed."""

    @property
    def is_failed(self) -> bool:
        """Tell whether the pass stopped with an error; then it is the last one."""
        return any(problem.severity == "error" for problem in self.problems)


class Pipeline(msgspec.Struct, frozen=True):
    """The stages, the source being number 0."""

    stages: tuple[Stage, ...]
    seconds: float = 0.0
    text: str = ""
    """The pipeline as a user writes it."""


class Rewrite(msgspec.Struct, frozen=True):
    """A replacement that a pass made."""

    number: int
    before: str
    after: str
    rule: str = ""
    node: str = ""
    before_node: str = ""
    line: int = 0
    is_single: bool = False
    """It is the application of a rule, and can be made, or left out, on its own."""


class Remark(msgspec.Struct, frozen=True):
    """What a pass says about itself."""

    number: int
    kind: Literal["applied", "missed", "note"]
    message: str
    nodes: tuple[str, ...] = ()
    line: int = 0


class StageDetail(msgspec.Struct, frozen=True):
    """The middle and the right of the Passes page for one stage."""

    name: str
    summary: str
    """Such as `1 function lifted, 1 value captured`."""
    rewrites: tuple[Rewrite, ...] = ()
    """The first of them, if there are very many."""
    remarks: tuple[Remark, ...] = ()
    rewrite_count: int = 0
    """How many there are."""


class Chip(msgspec.Struct, frozen=True, array_like=True):
    """A small label."""

    text: str
    tone: Tone = ""


class Part(msgspec.Struct, frozen=True):
    """A piece of an inspector's text; with a target it is a link."""

    text: str
    style: Literal["", "code", "muted", "strong"] = ""
    syntax: Syntax = ""
    node: str = ""
    """Link: selects this node."""
    line: int = 0
    """Link: goes to this line of the source."""
    go: str = ""
    """Link to another page: `run/PC` to the first time of an instruction, `kernel/LINE/NAME` to what it computes."""
    category: str = ""
    """Draws the symbol of this category (`cat0`) before the text."""


class InspectorRow(msgspec.Struct, frozen=True):
    """Label and value; `mark` and `detail` where the section's layout shows them."""

    label: str
    value: tuple[Part, ...] = ()
    detail: str = ""
    """Muted text at the right (table) or after the label (life)."""
    mark: Mark | None = None
    """Life: the sign of the step; None is a bullet."""


class Section(msgspec.Struct, frozen=True):
    """A titled part of the inspector, such as Dimensions, Used by, Why, Life of this node, Text."""

    title: str
    layout: Literal["pairs", "table", "life", "text", "code"]
    """pairs: label and value; table: value and detail; life: mark, label, detail; text and code: values only."""
    rows: tuple[InspectorRow, ...]


class Inspector(msgspec.Struct, frozen=True):
    """All that is known of the selected node."""

    title: str
    kind: Kind | None = None
    """Draws the badge of this kind of value."""
    chips: tuple[Chip, ...] = ()
    sections: tuple[Section, ...] = ()
    """The first one has no title: Type, Device, Defined."""


class Status(msgspec.Struct, frozen=True):
    """The bar at the bottom."""

    is_well_formed: bool
    error_count: int = 0
    warning_count: int = 0
    detail: str = ""
    """What the page adds, such as `Recorded 8 events, 1.1 kB`."""
    worker: str = ""
    """Such as `Worker: 61 MB of 2 GB`."""
    sandbox: str = ""
    module_hash: str = ""
    versions: str = ""


class SourceView(msgspec.Struct, frozen=True):
    """The Source page but for its graph."""

    code: Code
    modules: tuple[str, ...] = ()
    module: str = ""
    functions: tuple[str, ...] = ()
    """In the order of the text; each has a graph."""
    entries: tuple[str, ...] = ()
    """Functions that can be run."""
    sizes: tuple[tuple[str, int], ...] = ()
    """The symbolic dimensions of the function that runs, with the sizes that its inputs have."""
    signature: str = ""
    """The types of its parameters, such as `(x: (n, 4) f32, w: (4, n) f32)`; empty if nothing runs."""
    dialect: str = ""
    """Such as `Relax, 2022 spelling` or `Relay 0.0.5`."""
    summary: str = ""
    """Such as `2 functions · 4 bindings`, `2 functions · 4 calls` for Relay."""
    offers_layout: bool = False
    """The text seems to have lost its layout: `RestoreLayout` would change it."""
    status: Status = msgspec.field(default_factory=lambda: Status(is_well_formed=False))

    @property
    def first_function(self) -> str:
        """The function that is shown where none is chosen; "" where there is none."""
        wanted = ("main",) if "main" in self.functions else self.entries or self.functions
        return next(iter(wanted), "")
