"""What the graph is given beside its picture, and what it tells."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import msgspec

from relax_core.engine.components.commands import Buttons
from relax_core.present.models import LineHeat, Side


@dataclass(frozen=True, slots=True)
class GraphAction:
    """What the user did."""

    kind: Literal["select", "reach", "open", "close", "side", "tab", "step", "command"]
    """To reach is to select a node that is not drawn, and to have it drawn."""
    node: str = ""
    """The selected node, empty after Esc."""
    command: str = ""
    """The id of the tab, step or button, or the name of the group to open or to fold."""
    side: Side = "both"
    groups: tuple[str, ...] = ()
    """To be open for the node that is reached."""


class GraphProps(msgspec.Struct, frozen=True):
    """What the page says beside the picture; `Head` and `Marks` tell what each is."""

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
    can_be_bare: bool
    height: str
    heat: LineHeat | None = None


@dataclass(frozen=True, slots=True)
class Head:
    """What stands above a graph."""

    title: str = ""
    """Of a pane without tabs; by default the graph's title."""
    note: str = ""
    """Muted text behind the title or the tabs."""
    tabs: Buttons = ()
    """One per function, for example."""
    tab: str = ""
    steps: Buttons = ()
    """States to scrub through; tabs are a list then."""
    step: str = ""
    has_step_keys: bool = True
    """The keys `j` and `k` go from one state to the next."""
    side: Side = "both"
    """Of a graph that compares."""
    actions: Buttons = ()
    """Buttons at the right, before Export."""
    can_be_bare: bool = False
    """A button, the command `weights`, leaves out weights, constants and shape arithmetic, or shows them again."""


@dataclass(frozen=True, slots=True)
class Marks:
    """Which nodes are shown in which way."""

    selected: str = ""
    """It is brought into sight if it is not."""
    highlight: tuple[str, ...] = ()
    """Nodes, or ids of the picture, that are shown bright, all others dimmed."""
    current: str = ""
    """The node that is about to run, in amber."""
    path: tuple[tuple[str, ...], ...] = ()
    """Nodes where a blocking path begins, those on it, and those where it ends, in red."""
    colours: Mapping[str, str] = field(default_factory=dict[str, str])
    """The category of a node (`cat0`, `catNone`); its symbol is drawn at the node's corner."""
    colour_names: Buttons = ()
    """Category and what it stands for, for the legend."""
    heat: LineHeat | None = None
    """What nodes take of a quantity, with the figure at the corner; it has the say over categories."""


def graph_props(head: Head, marks: Marks, height: str) -> GraphProps:
    """Return what is said beside a picture; `height` is a CSS length."""
    return GraphProps(
        title=head.title,
        note=head.note,
        highlight=marks.highlight,
        current=marks.current,
        tabs=head.tabs,
        tab=head.tab,
        steps=head.steps,
        step=head.step,
        step_keys=head.has_step_keys,
        path=marks.path,
        colours=dict(marks.colours),
        colour_names=marks.colour_names,
        actions=head.actions,
        can_be_bare=head.can_be_bare,
        height=height,
        heat=marks.heat,
    )
