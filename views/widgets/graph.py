"""The graph: pan, zoom, search, selection, comparison, export."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import msgspec

from relax_core.present.models import Graph, Side
from views.widgets.channel import PANE_HEIGHT, Buttons, channel


@dataclass(frozen=True, slots=True)
class GraphAction:
    """What the user did."""

    kind: Literal["select", "open", "side", "tab", "step", "command"]
    node: str = ""
    """The selected node, empty after Esc."""
    command: str = ""
    """The id of the tab, step or button, or the name of the group to open."""
    side: Side = "both"


class GraphProps(msgspec.Struct, frozen=True):
    """What the page says beside the picture; `graph` tells what each is."""

    title: str
    note: str
    highlight: tuple[str, ...]
    current: str
    tabs: Buttons
    tab: str
    steps: Buttons
    step: str
    step_keys: bool
    path: tuple[tuple[str, ...], ...]
    colours: dict[str, str]
    colour_names: Buttons
    actions: Buttons
    height: str


NO_COLOURS: Mapping[str, str] = MappingProxyType({})
_GRAPH = channel("graph", GraphAction)


def graph(
    model: Graph,
    *,
    key: str,
    selected: str = "",
    highlight: tuple[str, ...] = (),
    current: str = "",
    side: Side = "both",
    title: str = "",
    note: str = "",
    tabs: Buttons = (),
    tab: str = "",
    steps: Buttons = (),
    step: str = "",
    has_step_keys: bool = True,
    path: tuple[tuple[str, ...], ...] = (),
    colours: Mapping[str, str] = NO_COLOURS,
    colour_names: Buttons = (),
    actions: Buttons = (),
    height: str = PANE_HEIGHT,
    on_action: Callable[[GraphAction], None] | None = None,
) -> GraphAction | None:
    """Show a laid-out graph.

    Args:
        selected: node to mark; it is brought into sight if it is not.
        highlight: nodes (or ids of the picture) shown bright, all others dimmed.
        current: node about to run, shown in amber.
        side: which side of a compare graph is shown.
        title: head of the pane without tabs; by default the graph's title.
        note: muted text after the head.
        tabs: one per function, for example.
        steps: states to scrub through, with the keys `j` and `k` if `has_step_keys`; tabs are a list then.
        path: nodes where a blocking path begins, those on it, and those where it ends; drawn in red.
        colours: the category of a node (`cat0`, `catNone`); its symbol is drawn at the node's corner.
        colour_names: category and what it stands for, for the legend.
        actions: buttons at the right of the head, before Export.
    """
    return _GRAPH.show(
        key,
        model,
        view=GraphProps(
            title=title,
            note=note,
            highlight=highlight,
            current=current,
            tabs=tabs,
            tab=tab,
            steps=steps,
            step=step,
            step_keys=has_step_keys,
            path=path,
            colours=dict(colours),
            colour_names=colour_names,
            actions=actions,
            height=height,
        ),
        commands={"node": selected, "side": side},
        on_action=on_action,
    )
