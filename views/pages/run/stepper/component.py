"""The stepper: listings, stack, registers and time of a recorded run; steps are made in the browser."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import msgspec

from relax_core.present.models import Problem
from relax_core.present.running.memory_models import MemoryView
from relax_core.present.running.moment_models import Histories, Measure, TensorView
from relax_core.present.running.run_models import Breakpoint, PointHits, Run
from views.widgets.channel import PANE_HEIGHT, Buttons, channel


class TensorAsked(msgspec.Struct, frozen=True):
    """The part of a tensor that is looked at, as in `TensorOf`."""

    expression: str = ""
    depth: int = 0
    axes: tuple[int, ...] = ()
    fixed: tuple[int, ...] = ()
    top: int = 0
    left: int = 0
    other_time: int = -1
    measure: Measure = "value"
    search: str = ""


class TensorShown(msgspec.Struct, frozen=True):
    """A tensor as it was asked for, or why there is none."""

    asked: TensorAsked
    view: TensorView | None = None
    fault: str = ""


class Watched(msgspec.Struct, frozen=True):
    """The expressions that are watched, and why their values are not known, if so."""

    expressions: tuple[str, ...] = ()
    histories: Histories | None = None
    time: int = -1
    """Of a run of which some times are looked at: the time that `now` is of; -1 where the histories say all."""
    now: tuple[str, ...] = ()
    fault: str = ""


@dataclass(frozen=True, slots=True)
class StepperAction:
    """Where the user is; sent 250 ms after the last step.

    `need` asks for another window of the run: `command` is `at` (show the time `to`), `continue` or
    `continue_back` (run from `to` to the next or previous breakpoint); answer with the window and `at`.
    `watch` watches other expressions: `names` are all of them.
    `inside` asks to go into the kernel that is called at the time `to`, `explain` what the instruction there does:
    `names` are its opcode and what it calls, `text` is the sentence about it.
    """

    kind: Literal["state", "need", "select", "tab", "change", "inside", "explain", "tensor", "watch"]
    at: int
    by: Literal["binding", "instruction"]
    breakpoints: tuple[Breakpoint, ...] = ()
    line: int = 0
    """The cursor: a line that was clicked."""
    node: str = ""
    command: str = ""
    to: int = 0
    text: str = ""
    """A change, such as `x[0] = 0.5`, of the frame at `depth`; `content` is its file in base64."""
    depth: int = -1
    is_in_place: bool = False
    content: str = ""
    names: tuple[str, ...] = ()
    tensor: TensorAsked | None = None
    """What `tensor` asks to see of a tensor."""


class ChangeFault(msgspec.Struct, frozen=True):
    """A change that did not fit, and why."""

    text: str
    problem: Problem


class StepperProps(msgspec.Struct, frozen=True):
    """What the page says beside the run."""

    tabs: Buttons
    tab: str
    height: str
    hits: tuple[PointHits, ...]
    fault: ChangeFault | None
    fixed: str
    """Why no value can be changed; empty if one can."""
    memory: MemoryView | None
    tensor: TensorShown | None
    watched: Watched | None
    until: int
    """The last time that may be shown; -1 if all may."""


_WHOLE_RUN = ("source", "instructions", "functions", "flame", "output", "kernel_pcs")
"""What all windows of a run share: most of the model of a long program."""

_STEPPER = channel("stepper", Run, StepperProps, StepperAction)


def stepper(
    run: Run,
    *,
    key: str,
    at: int | None = None,
    by: Literal["binding", "instruction"] = "binding",
    breakpoints: tuple[Breakpoint, ...] = (),
    hits: tuple[PointHits, ...] = (),
    tabs: Buttons = (),
    tab: str = "",
    fault: ChangeFault | None = None,
    fixed: str = "",
    memory: MemoryView | None = None,
    tensor: TensorShown | None = None,
    watched: Watched | None = None,
    until: int = -1,
    height: str = PANE_HEIGHT,
    on_action: Callable[[StepperAction], None] | None = None,
) -> StepperAction | None:
    """Show a recorded run at a time.

    Args:
        run: a window of the recorded run.
        key: names the component on the page.
        at: time to go to; None leaves it to the component, which starts at the first time of the window.
        by: what a step is.
        breakpoints: places to stop at; the user changes them in the gutter.
        hits: where those with a condition stop; until it is known the component asks with `need`.
        tabs: tabs in the left head; by default `Source`.
        tab: the tab that is chosen.
        fault: a change that did not fit, and the problem.
        fixed: why no value can be changed; empty if one can.
        until: the last time that may be shown, while what comes behind it is asked about; -1 if all may.
        memory: what the tab `memory` shows in place of the listings.
        tensor: what the tab `tensor` shows there.
        watched: expressions that are watched; None if none can be.
        height: a CSS length.
        on_action: called with what the user did.
    """
    return _STEPPER.show(
        key,
        run,
        view=StepperProps(tabs, tab, height, hits, fault, fixed, memory, tensor, watched, until),
        commands={"at": at, "by": by, "breakpoints": breakpoints},
        base=_WHOLE_RUN,
        on_action=on_action,
    )
