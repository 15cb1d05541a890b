"""The graph of a module in a notebook: a function at a time, groups that open, weights that are left out."""

from collections.abc import Mapping
from typing import Final

import msgspec

from relax_core.engine.components.graph import GraphAction, Head, Marks, graph_props
from relax_core.engine.notebook.screen import Part, PartName
from relax_core.engine.notebook.subject import Subject
from relax_core.engine.protocol import Failure, GraphOf, Open
from relax_core.engine.request import Request
from relax_core.present.models import Graph, Side

_HEIGHT: Final = "460px"


class GraphChoices:
    """What a user chooses in a graph: a node, a side of a comparison, open groups, whether there are weights."""

    def __init__(self) -> None:
        self.node = ""
        self.side: Side = "both"
        self.is_bare = False
        self.reached: tuple[str, ...] = ()
        """The node that was gone to where it was not drawn, if there is one."""
        self._by_hand: tuple[str, ...] = ()
        self._way: tuple[str, ...] = ()

    @property
    def opened(self) -> tuple[str, ...]:
        """The groups that are open: the user opened them, or went to a node in them."""
        return tuple(dict.fromkeys((*self._by_hand, *self._way)))

    def follow(self, action: GraphAction) -> None:
        """Take what the user did in the graph."""
        match action.kind:
            case "select":
                self.node = action.node
            case "reach":
                self.node, self.reached, self._way = action.node, (action.node,), action.groups
            case "open":
                self._by_hand = (*self._by_hand, action.command)
            case "close":
                self._close(action.command)
            case "side":
                self.side = action.side
            case "command" if action.command == "weights":
                self.is_bare = not self.is_bare
            case _:
                pass

    def _close(self, group: str) -> None:
        """Fold a group with those in it."""

        def kept(groups: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(item for item in groups if item != group and not item.startswith(f"{group}/"))

        self._by_hand, way = kept(self._by_hand), kept(self._way)
        if way != self._way:
            self._way, self.reached = way, ()

    def part(self, graph: Graph, head: Head, height: str) -> Part:
        """Return a graph as it is shown."""
        props = graph_props(head, Marks(self.node), height)
        return Part(graph, props, {"node": self.node, "side": self.side})


def graph_of(subject: Subject, request: Request[Graph]) -> Graph:
    """Ask for a graph; what keeps it from being drawn is said in its place."""
    reply = subject.session.request(request)
    return Graph("", empty_title=reply.title, empty_text=reply.message) if isinstance(reply, Failure) else reply


class ModuleScreen:
    """A module: the graph of one of its functions."""

    def __init__(self, subject: Subject) -> None:
        view = subject.session.asked(Open(subject.program))
        self.note = ""
        self._subject = subject
        self._functions = view.functions
        self._function = next((name for name in ("main", *view.entries, *view.functions) if name in view.functions), "")
        self._choices = GraphChoices()

    def parts(self) -> Mapping[PartName, Part]:
        """Return the graph of the chosen function."""
        own = self._choices
        program = self._subject.program
        request = GraphOf(program, function=self._function, opened=own.opened, shown=own.reached, is_bare=own.is_bare)
        tabs = tuple((name, f"@{name}") for name in self._functions)
        head = Head(tabs=tabs, tab=self._function, can_be_bare=True)
        return {"graph": own.part(graph_of(self._subject, request), head, _HEIGHT)}

    def act(self, part: PartName, action: Mapping[str, object]) -> None:
        """Take what the user did in the graph."""
        done = msgspec.convert(dict(action), GraphAction)
        if done.kind == "tab" and done.command in self._functions:
            self._function, self._choices.node = done.command, ""
        else:
            self._choices.follow(done)
