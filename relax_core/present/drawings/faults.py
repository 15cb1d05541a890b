"""Errors in a drawing: which of its nodes they are about.

An error is a place in a text, and so is a node that can be drawn. An error belongs to the node with the shortest text
around it. Bodies and functions are around everything, so an error that is only in their text is drawn as a node of its
own, with the words that it is about: a statement that could not be read is seen where others are.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from relax_core.diagnostics import Diagnostic, plural
from relax_core.ir.expr import Function, SeqExpr
from relax_core.ir.node import Node
from relax_core.ir.tir import PrimFunc
from relax_core.present.drawings.drawing import Drawing, DrawNode
from relax_core.source import Span

_MOST_OPENED = 8
"""In a large graph the groups of so many faulty nodes are opened, so that opening ends."""
_MOST_ADDED = 20
"""So many errors get a node of their own."""


@dataclass(frozen=True, slots=True, eq=False)
class Faults:
    """The errors of a module, and where its nodes stand in the text that the errors are placed in."""

    errors: tuple[Diagnostic, ...] = ()
    span_of: Callable[[Node], Span | None] = lambda node: node.span


NO_FAULTS = Faults()


@dataclass(frozen=True, slots=True)
class Home:
    """A function that is drawn: its text, and the box around it, "" for none."""

    name: str
    span: Span | None
    cluster: str = ""


def mark_faults(drawing: Drawing, faults: Faults, homes: Sequence[Home]) -> Drawing:
    """Return `drawing`, of the functions `homes`, with the errors that are in their text, and a count of the others.

    Complexity: the product of errors and nodes.
    """
    if not faults.errors:
        return drawing
    places = [(item.key, span) for item in drawing.nodes for span in _spans(item, faults.span_of)]
    found: defaultdict[str, list[Diagnostic]] = defaultdict(list)
    added: list[DrawNode] = []
    elsewhere: list[Diagnostic] = []
    for error in faults.errors:
        home = next((item for item in homes if item.span is not None and item.span.holds(error.span)), None)
        key = _narrowest(error.span, places)
        if key is not None:
            found[key].append(error)
        elif home is not None and len(added) < _MOST_ADDED:
            added.append(_own_node(error, home, len(added)))
        else:
            elsewhere.append(error)
    marked = (replace(item, fault=_words(found[item.key])) if item.key in found else item for item in drawing.nodes)
    count = drawing.node_count + len(added)
    return replace(drawing, nodes=(*marked, *added), node_count=count, beside=_beside(elsewhere))


def faulty(drawing: Drawing) -> frozenset[str]:
    """Return the ids of the first faulty nodes, whose groups are to be open in a large graph."""
    return frozenset([item.node for item in drawing.nodes if item.fault and item.node][:_MOST_OPENED])


def _spans(item: DrawNode, span_of: Callable[[Node], Span | None]) -> Iterable[Span]:
    own = (node for node in item.ir if not isinstance(node, SeqExpr | Function | PrimFunc))
    return filter(None, map(span_of, own))


def _narrowest(place: Span | None, places: Iterable[tuple[str, Span]]) -> str | None:
    around = [(span.end - span.start, key) for key, span in places if span.holds(place)]
    return min(around, key=lambda item: item[0])[1] if around else None


def _own_node(error: Diagnostic, home: Home, number: int) -> DrawNode:
    assert error.span is not None, "an error in the text of a function has a place"
    title, line = error.span.text.split("\n", 1)[0], error.span.line
    key = f"{home.name}:error {number}"
    sub = f"line {line}"
    return DrawNode(key, "op", title, sub, cluster=home.cluster, line=line, function=home.name, fault=_words([error]))


def _words(errors: Sequence[Diagnostic]) -> str:
    """Say the first error whole, and how many more there are."""
    more = f" (and {plural(len(errors) - 1, 'more error')})" if len(errors) > 1 else ""
    return f"{errors[0].code}: {errors[0].message}{more}"


def _beside(errors: Sequence[Diagnostic]) -> str:
    """Say how many errors are not in the picture, and on which lines."""
    if not errors:
        return ""
    return f"{plural(len(errors), 'error')} elsewhere{''.join(_lines(errors))}"


def _lines(errors: Iterable[Diagnostic]) -> Iterator[str]:
    lines = sorted({item.span.line for item in errors if item.span is not None})
    if lines:
        yield f", {'lines' if len(lines) > 1 else 'line'} {', '.join(map(str, lines[:3]))}"
        yield ", …" if len(lines) > 3 else ""
