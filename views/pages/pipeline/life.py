"""The life of a line of a recorded program: what it is in every form, how well that is known, and why."""

from collections.abc import Iterator
from types import MappingProxyType
from typing import Final

from relax_core.engine.debug.requests import (
    LifeOf,
    Parcel,
)
from relax_core.engine.protocol import (
    Failure,
)
from relax_core.present.measures import cut
from relax_core.present.models import Inspector, InspectorRow, Part, Section
from relax_core.present.nodes.origin_models import LifeLine, LifeStage, NodeLife
from views.shell.heights import pane_height
from views.state.session import select
from views.widgets.inspector.component import InspectorAction, inspector
from views.worker.connection import ask

_SIGN: Final = MappingProxyType({"sure": "●", "likely": "◐", "guess": "○"})
_LINES_SHOWN: Final = 4
_COLUMNS: Final = 64
_HOW: Final = "Choose the number of a line in either text: what it became and what it stems from is followed."
_LEGEND: Final = "● sure   ◐ likely   ○ guess"


def show_life(parcel: Parcel, sides: tuple[int, int], line: str) -> None:
    """Show the life of the marked line, `a/3` or `b/3`, of one of two stages."""
    side, _, number = line.partition("/")
    model = Inspector("Life of a line", sections=(_words((_HOW,)),))
    if number.isdecimal():
        found = ask(LifeOf(parcel, sides[side == "b"], int(number)))
        model = _refused(found) if isinstance(found, Failure) else _model(found)
    inspector(model, key="pipeline.life", is_drawer=True, height=pane_height(), on_action=_on_life)


def _on_life(action: InspectorAction) -> None:
    position, _, line = action.node.partition("/")
    if action.kind == "select" and position.isdecimal() and line.isdecimal():
        select(recorded_stage=int(position), against=-1, recorded_line=f"b/{line}")


def _refused(failure: Failure) -> Inspector:
    return Inspector("Life of a line", sections=(_words((failure.problem.message,)),))


def _model(life: NodeLife) -> Inspector:
    if not life.title:
        return Inspector("Life of a line", sections=(_words(life.words or ("No part of the program begins here.",)),))
    steps = Section("Life of this line", "life", tuple(_rows(life)))
    return Inspector(life.title, sections=(_words((*life.words, _LEGEND)), steps))


def _words(texts: tuple[str, ...]) -> Section:
    return Section("", "text", tuple(InspectorRow("", (Part(text, "muted"),)) for text in texts))


def _rows(life: NodeLife) -> Iterator[InspectorRow]:
    """Yield a row for each line of a form that changed it; those that left it as it was are counted."""
    quiet = 0
    for stage in life.stages:
        if stage.mark == "unchanged" and stage.position != life.position:
            quiet += 1
            continue
        if quiet:
            yield _quiet(quiet)
            quiet = 0
        yield from _stage_rows(stage)
    if quiet:
        yield _quiet(quiet)


def _quiet(count: int) -> InspectorRow:
    return InspectorRow("", (Part(f"{count} form{'' if count == 1 else 's'}: unchanged", "muted"),), mark="unchanged")


def _stage_rows(stage: LifeStage) -> Iterator[InspectorRow]:
    first = stage.lines[0].line if stage.lines else 1
    yield InspectorRow(
        "", (Part(stage.label, "strong", node=f"{stage.position}/{first}"),), detail=stage.words, mark=stage.mark
    )
    for item in stage.lines[:_LINES_SHOWN]:
        yield InspectorRow("", (_link(stage, item),), detail=f"{_SIGN[item.confidence]} {item.why}" if item.why else "")
    left = len(stage.lines) - _LINES_SHOWN
    if left > 0:
        yield InspectorRow("", (Part(f"and {left} more lines", "muted"),))


def _link(stage: LifeStage, item: LifeLine) -> Part:
    return Part(f"{item.line} {cut(item.text, _COLUMNS)}", "code", node=f"{stage.position}/{item.line}")
