"""Stages in a notebook: the texts before and after a pass, its graph, structure, rewrites and remarks."""

from collections.abc import Mapping
from typing import Final

import msgspec

from relax_core.engine.components.diff import DiffAction, DiffProps, DiffTab, SingleRewrite, stages_of, views_of
from relax_core.engine.components.graph import GraphAction, Head
from relax_core.engine.notebook.graphs import GraphChoices, graph_of
from relax_core.engine.notebook.screen import Part, PartName
from relax_core.engine.notebook.subject import Subject
from relax_core.engine.protocol import CompareGraph, Failure, PipelineOf, RewriteOf, StageOf, StageStructureOf
from relax_core.engine.replies import RewriteView, StageView
from relax_core.present.models import Pipeline, Structure

_VIEWS: Final[tuple[DiffTab, ...]] = ("both", "text", "graph", "structure", "rewrites", "remarks")
"""A film and values are told by the app: what a notebook has of a pass is the pass itself."""
_HEIGHT: Final = "460px"
_HALF: Final = "340px"
_COMPARED: Final = "one layout for both sides: what is unchanged stays put"


class StagesScreen:
    """The stages that passes made of a module; first the first one that changed it, or that failed."""

    def __init__(self, subject: Subject) -> None:
        self.note = ""
        self._subject = subject
        self._pipeline = subject.session.asked(PipelineOf(subject.program))
        self._stage = _first_shown(self._pipeline)
        self._tab: DiffTab = "both" if self._stage else "text"
        self._rewrite = 0
        self._is_left_out = False
        self._choices = GraphChoices()

    def parts(self) -> Mapping[PartName, Part]:
        """Return the diff of the stage, and the graph where the chosen view has one."""
        view = self._subject.session.asked(StageOf(self._subject.program, self._stage))
        single = self._single()
        model = view.diff if single is None else single.diff
        parts: dict[PartName, Part] = {
            "diff": Part(model, self._props(view, single), {"node": self._choices.node}),
        }
        if self._tab in ("both", "graph"):
            own = self._choices
            request = CompareGraph(self._subject.program, self._stage, opened=own.opened, is_bare=own.is_bare)
            head = Head("Compare", _COMPARED, side=own.side, can_be_bare=True)
            parts["graph"] = own.part(graph_of(self._subject, request), head, _HEIGHT)
        return parts

    def act(self, part: PartName, action: Mapping[str, object]) -> None:
        """Take what the user did."""
        if part == "graph":
            self._choices.follow(msgspec.convert(dict(action), GraphAction))
            return
        done = msgspec.convert(dict(action), DiffAction)
        match done.kind:
            case "select":
                self._choices.node = done.node
            case "tab" if done.command in _VIEWS:
                self._tab = done.command
            case "stage" if 0 <= done.stage < len(self._pipeline.stages):
                self._stage, self._rewrite, self._choices.node = done.stage, 0, ""
            case "line":
                self._choices.node, self._tab = done.node, "text"
            case "rewrite":
                self._rewrite, self._is_left_out = done.rewrite, done.is_left_out
            case _:
                pass

    def _props(self, view: StageView, single: RewriteView | None) -> DiffProps:
        return DiffProps(
            detail=view.detail,
            tabs=tuple(item for item in views_of(view.detail) if item[0] in _VIEWS),
            tab=self._tab,
            stages=stages_of(self._pipeline),
            problems=self._pipeline.stages[self._stage].problems,
            stage=self._stage,
            height={"both": _HALF, "graph": "auto"}.get(self._tab, _HEIGHT),
            values=(),
            values_note="",
            single=None if single is None else _single(single),
            structure=self._structure() if self._tab == "structure" else None,
        )

    def _single(self) -> RewriteView | None:
        """Return the rewrite that is shown on its own, if one is; say why if that cannot be."""
        self.note = ""
        if self._tab != "rewrites" or not self._rewrite:
            return None
        message = RewriteOf(self._subject.program, self._stage, self._rewrite, self._is_left_out)
        reply = self._subject.session.request(message)
        if isinstance(reply, Failure):
            self._rewrite = 0
            self.note = reply.rendered or f"{reply.title}. {reply.message}"
            return None
        return reply

    def _structure(self) -> Structure | None:
        reply = self._subject.session.request(StageStructureOf(self._subject.program, self._stage))
        return None if isinstance(reply, Failure) else reply


def _single(view: RewriteView) -> SingleRewrite:
    return SingleRewrite(view.number, view.rule, view.numbers, view.problems, view.is_left_out)


def _first_shown(pipeline: Pipeline) -> int:
    last = pipeline.stages[-1]
    changed = (stage.index for stage in pipeline.stages if stage.is_changed)
    return last.index if last.is_failed else next(changed, 0)
