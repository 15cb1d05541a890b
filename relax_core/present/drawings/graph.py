"""Graphs of functions and of changes, laid out, with the data that a component has per node."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from msgspec.structs import replace

from relax_core.diagnostics import plural
from relax_core.ir.dialect import dialect_of
from relax_core.ir.expr import Call, Function, Var
from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.ir.tir import PrimFunc
from relax_core.present.drawings.compare import union
from relax_core.present.drawings.dot import write_dot
from relax_core.present.drawings.drawing import VISIBLE_LIMIT, DrawEdge, Drawing, DrawNode, Unseen, fold, group_words
from relax_core.present.drawings.faults import Home, faulty, mark_faults
from relax_core.present.drawings.flow import FlowDrawer, GraphContext, draw_function, draw_functions
from relax_core.present.drawings.hiding import small_count, without_small
from relax_core.present.drawings.relay_flow import RelayFlow
from relax_core.present.drawings.svg import GraphTooLargeError, layout
from relax_core.present.drawings.tir_flow import draw_prim_func
from relax_core.present.escape import visible
from relax_core.present.models import Graph, GraphEdge, GraphNode, LegendEntry, UnseenNode
from relax_core.present.regions.target_marks import NONE

_LEGEND_OF_KIND = (
    ("value", "line", "value"),
    ("order", "dash", "order"),
    ("capture", "dot", "captured value"),
    ("reference", "dash", "function reference"),
)
_MARKS = ("added", "removed", "changed", "moved")


def function_graph(
    name: str,
    facts: GraphContext,
    opened: tuple[str, ...] = (),
    shown: frozenset[str] = frozenset(),
    *,
    is_bare: bool = False,
) -> Graph:
    """Present one function of a module; an unknown name gives an empty graph that says so.

    In a large graph groups are folded but for those that are `opened`, and those that hold nodes to be `shown`. A bare
    graph counts weights, constants and shape arithmetic at their users.
    """
    definition = facts.module.find(name)
    match definition.function if definition is not None else None:
        case Function() as function:
            drawn = draw_function(name, function, facts, _flow_of(facts))
        case PrimFunc() as prim_func:
            drawn = draw_prim_func(name, prim_func, facts)
        case None:
            return Graph("", title=f"@{name}", empty_text=f"This module has no function `{name}`.")
    marked = mark_faults(drawn, facts.faults, _homes(facts, (name,), is_boxed=False))
    return present(fold(marked, opened, VISIBLE_LIMIT, shown | faulty(marked)), is_bare=is_bare, shown=shown)


def module_graph(facts: GraphContext, opened: tuple[str, ...] = (), *, is_bare: bool = False) -> Graph:
    """Present all Relax or Relay functions of a module in one graph."""
    functions = tuple((var.name, function) for var, function in facts.module.relax_functions)
    if not functions:
        return Graph("", title=facts.module.name, empty_text="This module has no Relax function.")
    drawn = draw_functions(functions, facts, facts.module.name, _flow_of(facts))
    marked = mark_faults(drawn, facts.faults, _homes(facts, tuple(name for name, _ in functions), is_boxed=True))
    return present(fold(marked, opened, VISIBLE_LIMIT, faulty(marked)), is_bare=is_bare)


@dataclass(frozen=True, slots=True)
class Openness:
    """How much of a graph is drawn: the groups that are open, and whether what is small is counted at its users.

    Nodes that are to be `shown` are drawn, whatever they are in.
    """

    opened: tuple[str, ...] = ()
    is_bare: bool = False
    shown: frozenset[str] = frozenset()


_WHOLE = Openness()


def compare_graph(
    before: GraphContext,
    after: GraphContext,
    log: RewriteLog,
    functions: tuple[str, ...] = (),
    extent: Openness = _WHOLE,
    draw: Callable[[GraphContext, tuple[str, ...]], Drawing] | None = None,
) -> Graph:
    """Present the change of a module by one pass; `functions` empty means those that changed.

    `draw` draws one side, as `draw_relax` does: what is drawn behind one pass is drawn before the next.
    """
    names = functions or changed_functions(before, after)
    drawn = tuple((draw or draw_relax)(facts, drawable(facts, names)) for facts in (before, after))
    if not names:
        return Graph(
            "", title="Compare", empty_title="No change", empty_text="This pass left every function as it was."
        )
    marked = with_faults(drawn[1], after, names)
    joined = replace(union(drawn[0], marked, log, "Compare"), beside=marked.beside)
    if not joined.nodes:
        return Graph("", title="Compare", empty_text="Only prim funcs changed; the text shows how.")
    folded = fold(joined, extent.opened, shown=extent.shown | faulty(marked))
    return present(folded, is_bare=extent.is_bare, shown=extent.shown)


def changed_functions(before: GraphContext, after: GraphContext) -> tuple[str, ...]:
    """Return the names of functions whose object differs between the sides."""
    old = {item.var.name: item.function for item in before.module}
    new = {item.var.name: item.function for item in after.module}
    return tuple(name for name in dict.fromkeys((*old, *new)) if old.get(name) is not new.get(name))


def drawable(facts: GraphContext, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the Relax or Relay functions of a module that are named, so that a stage's drawing is asked for alike."""
    return tuple(var.name for var, _ in facts.module.relax_functions if var.name in names)


def draw_relax(facts: GraphContext, names: tuple[str, ...]) -> Drawing:
    """Draw those Relax or Relay functions of a module that are named, each in a box."""
    functions = tuple((var.name, function) for var, function in facts.module.relax_functions if var.name in names)
    return draw_functions(functions, facts, facts.module.name, _flow_of(facts))


def with_faults(drawing: Drawing, facts: GraphContext, names: tuple[str, ...]) -> Drawing:
    """Mark the errors of the functions that `draw_relax` drew."""
    return mark_faults(drawing, facts.faults, _homes(facts, names, is_boxed=True))


def _homes(facts: GraphContext, names: tuple[str, ...], *, is_boxed: bool) -> tuple[Home, ...]:
    functions = ((item.var.name, item.function) for item in facts.module if item.var.name in names)
    return tuple(
        Home(name, facts.faults.span_of(function), f"fn:{name}" if is_boxed else "") for name, function in functions
    )


def _flow_of(facts: GraphContext) -> type[FlowDrawer]:
    return RelayFlow if dialect_of(facts.module) == "relay" else FlowDrawer


def present(whole: Drawing, *, is_bare: bool = False, shown: frozenset[str] = frozenset()) -> Graph:
    """Lay out a drawing and describe its nodes and edges; a bare one lacks small nodes but for those to be `shown`."""
    drawing = without_small(whole, shown) if is_bare else whole
    dot = write_dot(drawing)
    ids = {item.key: f"n{number}" for number, item in enumerate(drawing.nodes)}
    is_folded = any(item.look == "folded" for item in drawing.nodes)
    ways = {way: place for place, way in enumerate(dict.fromkeys(item.way for item in drawing.unseen))}
    try:
        svg = layout(dot)
    except GraphTooLargeError:
        words = f"{drawing.node_count:,} nodes. Open fewer groups, or save the DOT text."
        return Graph(
            "", title=drawing.title, node_count=drawing.node_count, dot=dot, empty_title="Too large", empty_text=words
        )
    return Graph(
        svg,
        tuple(graph_node(item, ids[item.key]) for item in drawing.nodes if item.look != "region"),
        tuple(GraphEdge(ids[edge.source], ids[edge.target], edge.kind, edge.side) for edge in drawing.edges),
        _legend(drawing),
        drawing.title,
        drawing.node_count,
        is_folded,
        drawing.is_compare,
        dot,
        opened=tuple((name, visible(group_words(name))) for name in drawing.opened),
        small_count=small_count(whole),
        is_bare=is_bare,
        unseen=tuple(_unseen_node(item, ids.get(item.box, ""), ways[item.way]) for item in _once(drawing.unseen)),
        ways=tuple(ways),
    )


def _once(unseen: tuple[Unseen, ...]) -> Iterable[Unseen]:
    """Leave out all copies of a node that stand beside its users but the first one."""
    found: dict[str, Unseen] = {}
    for item in unseen:
        found.setdefault(item.node.node or item.node.key, item)
    return found.values()


def _unseen_node(item: Unseen, box: str, way: int) -> UnseenNode:
    node = item.node
    name, is_call = _called(node)
    id_ = node.node or node.before_node
    return UnseenNode(box, visible(node.title), visible(node.sub), id_, name, is_call, way, node.line)


def _called(item: DrawNode) -> tuple[str, bool]:
    """Return the name of the variable that a node binds, and whether its title is what it calls."""
    if item.look == "return":
        return "", False
    name = next((node.name for node in item.ir if isinstance(node, Var)), "")
    return visible(name), any(isinstance(node, Call) for node in item.ir)


def graph_node(item: DrawNode, id_: str) -> GraphNode:
    """Describe the node that is drawn as the group `id_`."""
    name, is_call = _called(item)
    return GraphNode(
        id_,
        visible(item.title),
        visible(item.sub),
        item.node,
        item.before_node,
        item.line,
        item.function,
        item.side,
        item.mark,
        item.group[-1] if item.look == "folded" else "",
        visible(item.fault),
        name,
        is_call,
    )


def _legend(drawing: Drawing) -> tuple[LegendEntry, ...]:
    # What stands beside a user, as a copy of a node, is counted where it is.
    own = (item for item in drawing.nodes if item.count or item.look in ("begin", "end", "region"))
    counts = Counter(item.mark for item in own) + Counter(
        item.mark for item in drawing.clusters if item.kind in ("function", "local")
    )
    entries = [LegendEntry(mark, f"{mark} {counts[mark]}") for mark in _MARKS if counts[mark]]
    faults = sum(bool(item.fault) for item in drawing.nodes)
    if faults or drawing.beside:
        shown = plural(faults, "faulty node") if faults else ""
        entries.append(LegendEntry("error", "; ".join(filter(None, (shown, drawing.beside)))))
    entries += _targets_legend(drawing)
    return (*entries, *edges_legend(drawing.edges))


def edges_legend(edges: Iterable[DrawEdge]) -> Iterator[LegendEntry]:
    """Name the kinds of edges that are drawn."""
    kinds = {edge.kind for edge in edges}
    yield from (LegendEntry(sign, words) for kind, sign, words in _LEGEND_OF_KIND if kind in kinds)


def _targets_legend(drawing: Drawing) -> Iterator[LegendEntry]:
    """Name the targets of the regions that are drawn, and the ports."""
    names = {item.category: item.label for item in drawing.clusters if item.kind == "region"}
    names |= {item.category: item.tag for item in drawing.nodes if item.category not in ("", NONE, *names) and item.tag}
    yield from (LegendEntry(token, name) for token, name in sorted(names.items()) if token != NONE)
    if NONE in names or any(item.category == NONE for item in drawing.nodes):
        yield LegendEntry(NONE, "default")
    if any(item.look in ("begin", "end") for item in drawing.nodes):
        yield LegendEntry("port", "begin, end")
    if any(item.is_open for item in drawing.nodes):
        yield LegendEntry("open", "never ends")
