"""The graph: pan, zoom, search, selection, comparison, export."""

from collections.abc import Callable

from relax_core.engine.components.graph import GraphAction, GraphProps, Head, Marks, graph_props
from relax_core.present.models import Graph
from views.widgets.channel import PANE_HEIGHT, channel

_GRAPH = channel("graph", Graph, GraphProps, GraphAction)
_HEAD, _MARKS = Head(), Marks()


def graph(
    model: Graph,
    *,
    key: str,
    head: Head = _HEAD,
    marks: Marks = _MARKS,
    height: str = PANE_HEIGHT,
    on_action: Callable[[GraphAction], None] | None = None,
) -> GraphAction | None:
    """Show a laid-out graph; `height` is a CSS length."""
    return _GRAPH.show(
        key,
        model,
        view=graph_props(head, marks, height),
        commands={"node": marks.selected, "side": head.side},
        on_action=on_action,
    )
