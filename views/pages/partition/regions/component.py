"""What partitioning says: pairs not merged, regions, coverage, lets five ways, patterns and where they fit."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import msgspec

from relax_core.present.models import Problem
from relax_core.present.regions.partition_models import PartitionView
from views.widgets.channel import PANE_HEIGHT, channel


@dataclass(frozen=True, slots=True)
class RegionsAction:
    """What the user did."""

    kind: Literal[
        "show",
        "lets",
        "select",
        "match",
        "through",
        "line",
        "pattern",
        "add",
        "remove",
        "support",
        "unsupport",
        "revert",
    ]
    index: int = -1
    """The pair to show, -1 for none; the pattern; the line of the text."""
    command: str = ""
    """The way to treat lets; the name of the pattern; the target that is to take an operator, or not to."""
    node: str = ""
    function: str = ""
    text: str = ""
    """The pattern as it is to be; operators, separated by commas."""


class RegionsProps(msgspec.Struct, frozen=True):
    """What the page says beside the model; `regions` tells what each is."""

    shown: int
    selected: str
    patterns: tuple[tuple[str, str], ...]
    supported: tuple[tuple[str, tuple[str, ...]], ...]
    problems: tuple[Problem, ...]
    edited: bool
    height: str


_REGIONS = channel("regions", PartitionView, RegionsProps, RegionsAction)


def regions(
    model: PartitionView,
    *,
    key: str,
    shown: int = -1,
    selected: str = "",
    patterns: tuple[tuple[str, str], ...] = (),
    supported: tuple[tuple[str, tuple[str, ...]], ...] = (),
    problems: tuple[Problem, ...] = (),
    is_edited: bool = False,
    height: str = PANE_HEIGHT,
    on_action: Callable[[RegionsAction], None] | None = None,
) -> RegionsAction | None:
    """Show the tables beside the graph of a partitioned module.

    Args:
        model: the tables.
        key: names the component on the page.
        shown: the pair whose blocking path the graph shows.
        selected: node to mark in the tables.
        patterns: name and text of each pattern of the table, as the user wrote it.
        supported: the operators that each target takes, as the user wrote them.
        problems: of the patterns; while there are some, the tables are those of the sample's table.
        is_edited: the table is no sample's any more.
        height: a CSS length.
        on_action: called with what the user did.
    """
    return _REGIONS.show(
        key,
        model,
        view=RegionsProps(shown, selected, patterns, supported, problems, is_edited, height),
        commands={},
        on_action=on_action,
    )
