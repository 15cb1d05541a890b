"""The view inside a kernel: its text, loops, moves, buffers and accesses; steps of a window are made in the browser."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import msgspec

from relax_core.present.running.inside_models import HeatView, InsideReport, InsideView
from views.widgets.channel import PANE_HEIGHT, channel


@dataclass(frozen=True, slots=True)
class InsideAction:
    """What the user did: `clock` is where the run stands; sent 250 ms after the last step.

    `move` asks for a move from there, `look` for other buffers: `name` is the field of the state, `text` its value.
    `window` moves the window of the buffer `name`: `text` is `top,left,side`, then the axes and the fixed indices.
    """

    kind: Literal["state", "move", "look", "window", "out"]
    clock: int
    text: str = ""
    name: str = ""


class InsideProps(msgspec.Struct, frozen=True):
    """What the page says beside the view."""

    way: str
    """Where the kernel is called, such as `main, time 3`."""
    heats: tuple[HeatView, ...]
    what: str
    spell: str
    loop: int
    line: int
    """The line whose accesses are counted alone, 0 for all."""
    report: InsideReport | None
    machine: str
    """The GPU that was given for the report of a launch; empty for the default one."""
    watch: str
    """The expressions that are watched, separated by semicolons."""
    fault: str
    """Why the last move was none; empty if it was one."""
    height: str


_INSIDE = channel("inside", InsideView, InsideProps, InsideAction)


def inside(
    view: InsideView,
    *,
    key: str,
    way: str,
    heats: tuple[HeatView, ...] = (),
    what: str = "count",
    spell: str = "so_far",
    loop: int = -1,
    line: int = 0,
    report: InsideReport | None = None,
    machine: str = "",
    watch: str = "",
    fault: str = "",
    height: str = PANE_HEIGHT,
    on_action: Callable[[InsideAction], None] | None = None,
) -> InsideAction | None:
    """Show a run inside a kernel.

    Args:
        view: where it is, with a window of statements around.
        key: names the component on the page.
        way: where the kernel is called.
        heats: the buffers, as counts, ages or values.
        what: which of these.
        spell: of which part of the run.
        loop: the loop that is selected, -1 for none.
        line: whose accesses are counted alone, 0 for all.
        report: what the whole run does to memory.
        machine: the GPU that was given for the report of a launch.
        watch: the expressions that are watched, separated by semicolons.
        fault: why the last move was none.
        height: a CSS length.
        on_action: called with what the user did.
    """
    props = InsideProps(way, heats, what, spell, loop, line, report, machine, watch, fault, height)
    return _INSIDE.show(key, view, view=props, commands={}, on_action=on_action)
