"""A recorded pipeline in a notebook: what each pass of TVM left, as diff, graph and structure of two forms."""

from collections.abc import Mapping
from typing import Final

import msgspec

from relax_core.engine.components.diff import DiffAction, DiffProps, DiffTab
from relax_core.engine.components.graph import GraphAction, Head
from relax_core.engine.components.recorded import drawable
from relax_core.engine.debug.requests import (
    Parcel,
    RecordedFunctionsOf,
    RecordedGraphOf,
    RecordedOf,
    RecordedStructureOf,
    RecordedTextsOf,
)
from relax_core.engine.notebook.graphs import GraphChoices
from relax_core.engine.notebook.screen import Part, PartName
from relax_core.engine.pipelines.pipeline import Pipeline
from relax_core.engine.pipelines.trace import writer
from relax_core.engine.protocol import Failure
from relax_core.engine.reporting.reports import report_script
from relax_core.engine.reporting.versions import versions
from relax_core.engine.session import Session
from relax_core.present.escape import markup
from relax_core.present.models import Graph, Stage, StageDetail, Structure
from relax_core.present.report.elements import chip, pairs, part
from relax_core.present.report.page import Report, ReportSection, whole
from relax_core.present.report.pieces import Piece, Rank
from relax_core.present.report.texts import difference

_TABS: Final[tuple[tuple[DiffTab, str], ...]] = (
    ("both", "Text and graph"),
    ("text", "Text"),
    ("graph", "Graph"),
    ("structure", "Structure"),
)
_HEIGHT: Final = "460px"
_HALF: Final = "340px"
_COMPARED: Final = "one layout for both stages"


class RecordedSubject:
    """A recording, of which the forms of the program are shown: each beside the one before it."""

    def __init__(self, pipeline: Pipeline) -> None:
        self.text = pipeline.to_text()
        self.session = Session()
        self.parcel = Parcel(pipeline.name, writer.write_trace(pipeline))
        view = self.session.asked(RecordedOf(self.parcel))
        self.source = view.source
        self.forms: tuple[Stage, ...] = tuple(view.pipeline.stages[position] for position in view.forms)
        if not self.forms:
            raise ValueError(f"{pipeline.name} holds no form of the program")

    def sides(self, number: int) -> tuple[int, int]:
        """Return the positions of a form and of the one before it, which the first is itself."""
        return self.forms[max(number - 1, 0)].index, self.forms[number].index

    def page(self, limit_bytes: int) -> str:
        """Return a page of HTML with what each pass changed, which says what it leaves out."""
        pieces: list[Piece] = []
        for number, stage in enumerate(self.forms):
            name = f"{stage.label} {stage.name}"
            if sum(piece.size_bytes for piece in pieces) > limit_bytes:
                words = f"Not shown, for the stages before it fill the page: {name}."
                pieces.append(Piece(f'<p class="left">{markup(words)}</p>'))
                continue
            texts = self.session.asked(RecordedTextsOf(self.parcel, *self.sides(number)))
            summary = f"<code>{markup(name)}</code> {_summary(stage)}"
            pieces.append(Piece(part(summary, difference(texts.diff)), f"the texts of {name}", Rank.DIFF))
        stages = ReportSection("passes", "Stages", tuple(pieces), has_parts=True)
        about = Piece(pairs((("Made by", markup(versions())), ("Again", "<code>rc.show(pipeline)</code>"))))
        report = Report(self.parcel.name, (chip(self.source),), (stages,), report_script(), (about,), limit_bytes)
        return whole(report).html


class RecordedScreen:
    """The forms of the program in a recording; first the second one, which the first pass left that changed it."""

    def __init__(self, subject: RecordedSubject) -> None:
        self.note = ""
        self._subject = subject
        self._number = min(1, len(subject.forms) - 1)
        self._tab: DiffTab = "both"
        self._line = ""
        self._function = ""
        self._choices = GraphChoices()

    def parts(self) -> Mapping[PartName, Part]:
        """Return the diff of the form, and the graph where the chosen view has one."""
        own, sides = self._subject, self._subject.sides(self._number)
        texts = own.session.asked(RecordedTextsOf(own.parcel, *sides))
        self.note = "\n".join(texts.words)
        parts: dict[PartName, Part] = {"diff": Part(texts.diff, self._props(), {"node": self._line})}
        if self._tab in ("both", "graph"):
            parts["graph"] = self._graph(sides)
        return parts

    def act(self, part: PartName, action: Mapping[str, object]) -> None:
        """Take what the user did."""
        if part == "graph":
            chosen = msgspec.convert(dict(action), GraphAction)
            if chosen.kind == "tab":
                self._function = chosen.command
            self._choices.follow(chosen)
            return
        done = msgspec.convert(dict(action), DiffAction)
        match done.kind:
            case "select":
                self._line = done.node
            case "line":
                self._line, self._tab = done.node, "text"
            case "tab" if done.command in dict(_TABS):
                self._tab = done.command
            case "stage" if 0 <= done.stage < len(self._subject.forms):
                self._number, self._line, self._choices.node = done.stage, "", ""
            case _:
                pass

    def _props(self) -> DiffProps:
        forms, stage = self._subject.forms, self._subject.forms[self._number]
        return DiffProps(
            detail=StageDetail(stage.name, _summary(stage)),
            tabs=_TABS,
            tab=self._tab,
            stages=tuple((number, f"{item.label} {item.name}", number > 0) for number, item in enumerate(forms)),
            problems=stage.problems,
            stage=self._number,
            height={"both": _HALF, "graph": "auto"}.get(self._tab, _HEIGHT),
            values=(),
            values_note="",
            single=None,
            structure=self._structure() if self._tab == "structure" else None,
        )

    def _structure(self) -> Structure | None:
        own = self._subject
        reply = own.session.request(RecordedStructureOf(own.parcel, *own.sides(self._number)))
        return None if isinstance(reply, Failure) else reply

    def _graph(self, sides: tuple[int, int]) -> Part:
        own, choices = self._subject, self._choices
        names = drawable(own.session.asked(RecordedFunctionsOf(own.parcel, *sides)))
        function = self._function if self._function in names else next(iter(names), "")
        drawn = own.session.request(RecordedGraphOf(own.parcel, *sides, function, choices.opened))
        if isinstance(drawn, Failure):
            drawn = Graph("", empty_title=drawn.title, empty_text=drawn.message)
        has_tabs = len(names) > 1
        head = Head(
            "" if has_tabs else "Compare",
            "" if has_tabs else _COMPARED,
            tabs=tuple((name, name or "Relax functions") for name in names) if has_tabs else (),
            tab=function,
            side=choices.side,
        )
        return choices.part(drawn, head, _HEIGHT)


def _summary(stage: Stage) -> str:
    return f"+{stage.added_count} −{stage.removed_count} lines" if stage.is_changed else "the first form"
