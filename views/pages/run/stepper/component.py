"""The stepper: listings, stack, registers and time of a recorded run; steps are made in the browser."""

from collections.abc import Callable
from typing import Literal

from relax_core.engine.components.commands import Buttons
from relax_core.engine.components.stepper import (
    ChangeFault,
    Dataflow,
    StepperAction,
    StepperProps,
    TensorShown,
    Watched,
)
from relax_core.present.models import LineHeat
from relax_core.present.running.memory_models import MemoryView
from relax_core.present.running.moment_models import Logs
from relax_core.present.running.run_models import Breakpoint, PointHits, Run
from views.widgets.channel import PANE_HEIGHT, channel

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
    logs: Logs | None = None,
    until: int = -1,
    heat: LineHeat | None = None,
    dataflow: Dataflow | None = None,
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
        logs: what logpoints write over the run; None if there are none.
        heat: what the lines take of a quantity, as stripes beside them.
        dataflow: the graph that the tab `graph` shows in place of the listings.
        height: a CSS length.
        on_action: called with what the user did.
    """
    view = StepperProps(tabs, tab, height, hits, fault, fixed, memory, tensor, watched, logs, until, heat, dataflow)
    commands = {"at": at, "by": by, "breakpoints": breakpoints}
    return _STEPPER.show(key, run, view=view, commands=commands, base=_WHOLE_RUN, on_action=on_action)
