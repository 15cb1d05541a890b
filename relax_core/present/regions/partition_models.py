"""View models of partitioning: the Partition page, in strings, numbers and tuples of them.

A node is named by its id as text, as in `models`.
"""

from typing import Literal, get_args

import msgspec

from relax_core.present.models import Problem, Tone
from relax_core.present.regions.region_models import RegionReport

Lets = Literal["reported", "values", "definition", "uses", "graph_form"]
LETS: tuple[Lets, ...] = get_args(Lets)


class RegionMark(msgspec.Struct, frozen=True):
    """A region as a graph shows it: a cluster, with begin and end ports."""

    name: str
    function: str
    target: str
    number: int
    nodes: tuple[str, ...]
    """What it holds, annotations left out."""
    begins: tuple[str, ...]
    ends: tuple[str, ...]
    is_open: bool = False


class PartitionStage(msgspec.Struct, frozen=True):
    """One of the four passes: a step of the scrubber. `stage` is its number in the program's pipeline."""

    stage: int
    name: str
    is_changed: bool
    summary: str
    """Such as `2 regions · 7 begins · 2 ends`, `2 composites`, `2 external functions`."""
    regions: tuple[RegionMark, ...] = ()
    remarks: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    seconds: float = 0.0


class LetsWay(msgspec.Struct, frozen=True):
    """One way to treat lets, tried on the same program."""

    lets: Lets
    region_count: int
    open_begin_count: int
    result: str
    """Such as `2 functions`, `2 free variables`."""
    detail: str
    """What it keeps or loses, or the names of the free variables."""
    tone: Tone = "ok"
    free_variables: tuple[str, ...] = ()
    is_current: bool = False


class FreeVariable(msgspec.Struct, frozen=True):
    """A variable that PartitionGraph leaves unbound: the begin that it stands for has no end."""

    name: str
    region: str
    """Empty if the begin is of no region."""
    node: str
    """The begin, in the stage after MergeCompilerRegions."""
    line: int = 0


class PatternMatch(msgspec.Struct, frozen=True):
    """A place where a pattern fits, or came far and does not."""

    is_match: bool
    what: str
    """The operator or callee."""
    arguments: str = ""
    alternative: str = ""
    """`4 of 6` for a pattern that is a choice."""
    reason: str = ""
    """Of a miss."""
    nodes: tuple[str, ...] = ()
    """Ids in the source (stage 0), the root first."""
    line: int = 0


class PatternRow(msgspec.Struct, frozen=True):
    """A pattern of the table with its matches; the nearest miss if there is none."""

    name: str
    text: str
    match_count: int
    places: tuple[PatternMatch, ...] = ()


class PatternList(msgspec.Struct, frozen=True):
    """The patterns of a program's tables: those of one value first, then those of several bindings."""

    patterns: tuple[PatternRow, ...]

    def to_text(self) -> str:
        """Return a paragraph for each pattern: how often it fits, where, or what came closest."""
        return "\n\n".join(map(_paragraph, self.patterns)) or "the table has no patterns"


def _paragraph(row: PatternRow) -> str:
    head = f"{row.name}: {row.match_count:,} match{'' if row.match_count == 1 else 'es'}"
    return "\n".join((head, *(f"  {_place(item)}" for item in row.places)))


def _place(item: PatternMatch) -> str:
    where = f"line {item.line}: " if item.line else ""
    if not item.is_match:
        return f"miss, {where}{item.what}: {item.reason}" if item.what else f"miss: {item.reason}"
    details = ", ".join(filter(None, (item.arguments, item.alternative and f"alternative {item.alternative}")))
    return f"{where}{item.what}({details})" if details else f"{where}{item.what}"


class PartitionView(msgspec.Struct, frozen=True):
    """The Partition page: four stages, and the tables beside the graph."""

    pipeline: str
    """The four passes with their options: with it in `Program.pipeline`, `GraphOf` and `StageOf` show the stages."""
    targets: tuple[str, ...]
    """In the order of first appearance."""
    stages: tuple[PartitionStage, ...]
    report: RegionReport
    """Of the module after MergeCompilerRegions; ids are of that stage."""
    ways: tuple[LetsWay, ...]
    patterns: tuple[PatternRow, ...]
    markdown: str = ""
    json: str = ""
    problems: tuple[Problem, ...] = ()
    """Of the result: free variables among them."""
    free_variables: tuple[FreeVariable, ...] = ()
    """Of the result, each with the region whose begin it stands for."""
    has_lets: bool = True
    """Without lets the five ways are one."""
