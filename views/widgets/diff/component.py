"""What a pass did: its head, the two texts side by side, its rewrites and remarks."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import msgspec

from relax_core.engine.debug.replies import ValueRow
from relax_core.present.models import Diff, Pipeline, Problem, StageDetail, Structure
from views.widgets.channel import PANE_HEIGHT, channel

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


_DIFF = channel("diff", Diff, DiffProps, DiffAction)


def diff(
    model: Diff,
    *,
    key: str,
    detail: StageDetail | None = None,
    pipeline: Pipeline | None = None,
    stage: int = 0,
    tab: DiffTab = "text",
    selected: str = "",
    height: str = PANE_HEIGHT,
    values: tuple[tuple[ValueRow, ...], str] = ((), ""),
    single: SingleRewrite | None = None,
    structure: Structure | None = None,
    on_action: Callable[[DiffAction], None] | None = None,
) -> DiffAction | None:
    """Show two texts side by side.

    Args:
        model: the two texts, and which of their lines belong together.
        key: names the component on the page.
        detail: gives the head (name, summary, choice of view) and the lists; without it there is no head.
        pipeline: gives the stages of the scrubber; without it there is none.
        stage: number of the stage that the scrubber stands at.
        tab: `both` shows the text and leaves room for a graph below it, `graph` and `film` show the head only.
        selected: node whose lines are marked.
        values: for the tab `values`: the bindings before and after, and a sentence above them.
        single: for the tab `rewrites`: the rewrite that the texts of `model` are about, in place of the list.
        structure: for the tab `structure`: what became of the parts of the module.
        height: a CSS length, or `auto`.
        on_action: called with what the user did.
    """
    return _DIFF.show(
        key,
        model,
        view=DiffProps(
            detail=detail,
            tabs=() if detail is None else _views(detail),
            tab=tab,
            stages=() if pipeline is None else _stages(pipeline),
            problems=pipeline.stages[stage].problems if pipeline is not None else (),
            stage=stage,
            height=height,
            values=values[0],
            values_note=values[1],
            single=single,
            structure=structure,
        ),
        commands={"node": selected},
        on_action=on_action,
    )


def _stages(pipeline: Pipeline) -> tuple[tuple[int, str, bool], ...]:
    return tuple((stage.index, stage.name, stage.is_changed) for stage in pipeline.stages)


def _views(detail: StageDetail) -> tuple[tuple[DiffTab, str], ...]:
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
