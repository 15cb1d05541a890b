"""What two texts side by side are given beside them, and what they tell: a pass's head, its rewrites and remarks."""

from dataclasses import dataclass
from typing import Literal

import msgspec

from relax_core.engine.debug.replies import ValueRow
from relax_core.present.models import Pipeline, Problem, StageDetail, Structure

DiffTab = Literal["both", "text", "graph", "film", "structure", "rewrites", "remarks", "values"]


class SingleRewrite(msgspec.Struct, frozen=True):
    """The rewrite whose texts are shown, and the `numbers` of those that can be."""

    number: int
    rule: str
    numbers: tuple[int, ...]
    problems: tuple[Problem, ...] = ()
    is_left_out: bool = False


@dataclass(frozen=True, slots=True)
class DiffAction:
    """What the user did."""

    kind: Literal["select", "tab", "stage", "rewrite", "line"]
    """`line`: a part of the structure was chosen, which is to be shown in the text."""
    node: str = ""
    line: int = 0
    command: DiffTab = "both"
    """The view chosen, for `tab`."""
    stage: int = 0
    rewrite: int = 0
    """The rewrite to show, for `rewrite`; 0: the list of all."""
    is_left_out: bool = False


class DiffProps(msgspec.Struct, frozen=True):
    """What the page says beside the model."""

    detail: StageDetail | None
    """Gives the head and the lists."""
    tabs: tuple[tuple[DiffTab, str], ...]
    tab: DiffTab
    stages: tuple[tuple[int, str, bool], ...]
    """Number, name, and whether the stage changed anything."""
    problems: tuple[Problem, ...]
    stage: int
    height: str
    values: tuple[ValueRow, ...]
    values_note: str
    single: SingleRewrite | None
    structure: Structure | None
    max_height: str = ""


def stages_of(pipeline: Pipeline) -> tuple[tuple[int, str, bool], ...]:
    """Return what the scrubber shows of each stage."""
    return tuple((stage.index, stage.name, stage.is_changed) for stage in pipeline.stages)


def views_of(detail: StageDetail) -> tuple[tuple[DiffTab, str], ...]:
    """Return the views of a stage to choose from."""
    return (
        ("both", "Text and graph"),
        ("text", "Text"),
        ("graph", "Graph"),
        ("film", "Film"),
        ("structure", "Structure"),
        ("rewrites", f"Rewrites {detail.rewrite_count}"),
        ("remarks", f"Remarks {len(detail.remarks)}"),
        ("values", "Values"),
    )
