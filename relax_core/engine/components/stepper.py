"""What the stepper is given beside a run, and what it tells; what it asks of tensors and watched expressions."""

from dataclasses import dataclass
from typing import Final, Literal, Protocol, TypeVar

import msgspec

from relax_core.engine.components.commands import Buttons
from relax_core.engine.components.graph import GraphAction, GraphProps
from relax_core.engine.debug.requests import HistoriesOf, TensorOf, TextsOf
from relax_core.engine.programs.program import NOTHING, Against, Program
from relax_core.engine.protocol import Failure, LogsOf
from relax_core.engine.request import Request
from relax_core.present.models import Graph, LineHeat, Problem
from relax_core.present.running.memory_models import MemoryView
from relax_core.present.running.moment_models import Histories, Logs, Measure, TensorView
from relax_core.present.running.run_models import Breakpoint, PointHits

R = TypeVar("R")


class Asks(Protocol):
    """Answers a request: a session, or the worker of one."""

    def __call__(self, request: Request[R], /) -> R | Failure: ...


class TensorAsked(msgspec.Struct, frozen=True):
    """The part of a tensor that is looked at, as in `TensorOf`."""

    expression: str = ""
    depth: int = 0
    axes: tuple[int, ...] = ()
    fixed: tuple[int, ...] = ()
    top: int = 0
    left: int = 0
    other: str = ""
    """What it is compared with: a time, or one of `TensorShown.choices`; empty for nothing."""
    measure: Measure = "value"
    search: str = ""


class TensorShown(msgspec.Struct, frozen=True):
    """A tensor as it was asked for, or why there is none."""

    asked: TensorAsked
    view: TensorView | None = None
    fault: str = ""
    choices: Buttons = ()
    """What it can be compared with besides times, each with its name."""


class Watched(msgspec.Struct, frozen=True):
    """The expressions that are watched, and why their values are not known, if so."""

    expressions: tuple[str, ...] = ()
    histories: Histories | None = None
    time: int = -1
    """Of a run of which some times are looked at: the time that `now` is of; -1 where the histories say all."""
    now: tuple[str, ...] = ()
    fault: str = ""


class Dataflow(msgspec.Struct, frozen=True):
    """The graph of the function that runs, as the graph component is given it; stepping marks what is next."""

    graph: Graph
    view: GraphProps
    selected: str = ""


@dataclass(frozen=True, slots=True)
class StepperAction:
    """Where the user is; sent 250 ms after the last step.

    `need` asks for another window of the run: `command` is `at` (show the time `to`), `continue` or
    `continue_back` (run from `to` to the next or previous breakpoint); answer with the window and `at`.
    `watch` watches other expressions: `names` are all of them.
    `inside` asks to go into the kernel that is called at the time `to`, `explain` what the instruction there does:
    `names` are its opcode and what it calls, `text` is the sentence about it.
    """

    kind: Literal["state", "need", "select", "tab", "change", "inside", "explain", "tensor", "watch", "graph"]
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
    graph: GraphAction | None = None
    """What the user did in the graph."""


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
    logs: Logs | None
    """What the logpoints write over the run; None if there are none."""
    until: int
    """The last time that may be shown; -1 if all may."""
    heat: LineHeat | None = None
    """What the lines take; None shows nothing of it."""
    dataflow: Dataflow | None = None
    """What the tab `graph` shows."""


@dataclass(frozen=True, slots=True)
class Comparable:
    """Something that tensors can be compared with: how it is known, its name, and what is asked for."""

    key: str
    name: str
    against: Against


NUMPY: Final = Comparable("numpy", "NumPy", Against("numpy", name="NumPy"))
"""The operators of its binding by their definitions."""


def tensor_shown(
    ask: Asks, program: Program, asked: TensorAsked, time: int, comparables: tuple[Comparable, ...] = (NUMPY,)
) -> TensorShown:
    """Ask for a tensor at a time, compared with a time or one of `comparables`, and say why if there is none."""
    choices = tuple((item.key, item.name) for item in comparables)
    chosen = next((item.against for item in comparables if item.key == asked.other), NOTHING)
    against = Against("time", int(asked.other)) if asked.other.isdecimal() else chosen
    place = (asked.axes, asked.fixed, asked.top, asked.left)
    reply = ask(
        TensorOf(
            program,
            time,
            asked.depth,
            asked.expression,
            *place,
            against=against,
            measure=asked.measure,
            search=asked.search,
        )
    )
    if isinstance(reply, Failure):
        return TensorShown(asked, None, reply.problem.message)
    return TensorShown(asked, reply, choices=choices)


def watched(ask: Asks, program: Program, expressions: tuple[str, ...], time: int) -> Watched:
    """Ask what the watched expressions are over the run; nothing is asked while there are none."""
    if not expressions:
        return Watched()
    found = ask(HistoriesOf(program, expressions))
    if isinstance(found, Failure):
        return Watched(expressions, fault=found.problem.message)
    if found.step == 1:
        return Watched(expressions, found)
    # Not every time of a long run was looked at; the one that is shown is.
    texts = ask(TextsOf(program, expressions, (time,)))
    return (
        Watched(expressions, found) if isinstance(texts, Failure) else Watched(expressions, found, time, texts.rows[0])
    )


def logged(ask: Asks, program: Program, points: tuple[Breakpoint, ...]) -> Logs | None:
    """Ask what the logpoints among breakpoints write over the run; nothing is asked while there are none."""
    writing = tuple(point for point in points if point.message and point.is_on)
    reply = ask(LogsOf(program, writing)) if writing else None
    return Logs(fault=reply.problem.message) if isinstance(reply, Failure) else reply
