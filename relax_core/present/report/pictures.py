"""Graphs of a report: each stands in it as a plain picture, which the script of the report makes one that moves."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import msgspec

from relax_core.present.escape import markup
from relax_core.present.models import Graph

# Within tags only: a text of the picture holds no "<".
_ID: Final = re.compile(r'(<\w+[^<>]*?) id="')


@dataclass(frozen=True, slots=True)
class Colours:
    """The category of nodes, and what each category stands for."""

    of_node: Mapping[str, str] = field(default_factory=dict[str, str])
    names: tuple[tuple[str, str], ...] = ()


NO_COLOURS: Final = Colours()


def picture(graph: Graph, colours: Colours = NO_COLOURS) -> str:
    """Write a graph: its picture, and beside it what the script has to know of its nodes.

    An id may stand in a page once, so that the ids of a picture are data. A graph of nothing says so.
    """
    if not graph.svg:
        return f"<p><b>{markup(graph.empty_title)}.</b> {markup(graph.empty_text)}</p>"
    label = f'<svg role="img" aria-label="{markup(graph.title or "graph")}"'
    drawn = _ID.sub(r'\1 data-id="', graph.svg).replace("<svg", label, 1)
    known = msgspec.structs.replace(graph, svg="", dot="")
    facts = {"graph": known, "colours": dict(colours.of_node), "colour_names": colours.names}
    # Nothing that is said of a node may end the script.
    told = msgspec.json.encode(facts).decode().replace("<", "\\u003c")
    return f'<div class="graph">{drawn}<script type="application/json">{told}</script></div>'
