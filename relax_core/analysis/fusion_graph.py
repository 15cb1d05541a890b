"""The graph for Relay's fusion: def-use edges, each with its access pattern.

See: tvm/src/relay/analysis/graph_partitioner.cc and tvm/src/relay/transforms/fuse_ops.cc, v0.19
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from types import MappingProxyType

from relax_core.analysis.regions import open_postorder
from relax_core.ir.expr import Call, Constant, Function, Op, TensorType, Tuple, TupleGetItem, TupleType, Type
from relax_core.ir.integer.prove import prove_equal
from relax_core.ir.node import Node, children
from relax_core.ir.relay import Clause
from relax_core.ops.relay.kinds import KIND_NUMBERS, pattern_kind

_SIMPLE = ("int32", "int64", "float32", "float64", "bool")


class Kind(IntEnum):
    """The access pattern of a use, from elementwise to opaque; the numbers are those of TVM's `TOpPattern`."""

    ELEMENTWISE = 0
    BROADCAST = 1
    INJECTIVE = 2
    REDUCE = 3
    OUT_FUSABLE = 4
    TUPLE = 7
    OPAQUE = 8


@dataclass(slots=True, eq=False)
class FusionNode:
    """A value. `uses` are its users, each with the access pattern.

    An `is_external` value is also used outside of the graph: by a result, a let, a branch, a function.
    """

    index: int
    expr: Node
    kind: Kind = Kind.OPAQUE
    is_external: bool = False
    uses: list[tuple["FusionNode", Kind]] = field(default_factory=list["tuple[FusionNode, Kind]"])


@dataclass(frozen=True, slots=True, eq=False)
class Domination:
    """The value that all uses of another lead to, `None` if there is none, and the widest kind on the way."""

    node: FusionNode
    parent: "Domination | None"
    depth: int
    kind: Kind


@dataclass(frozen=True, slots=True, eq=False)
class FusionGraph:
    """The values of a function, parts before their users."""

    nodes: tuple[FusionNode, ...]
    of: Mapping[Node, FusionNode]


def fusion_graph(function: Function, types: Mapping[Node, Type]) -> FusionGraph:
    """Return the graph of a function; functions that are one operator are not entered. Complexity: linear."""
    order = list(open_postorder(function))
    of = {expr: FusionNode(index, expr) for index, expr in enumerate(order)}
    for expr in order:
        node = of[expr]
        for child, kind in _inputs(expr, node, types):
            target = of.get(child)
            if target is None:
                continue
            if kind is None:
                target.is_external = True
            else:
                target.uses.append((node, kind))
    of[function].is_external = True
    return FusionGraph(tuple(of.values()), MappingProxyType(of))


def _inputs(expr: Node, node: FusionNode, types: Mapping[Node, Type]) -> list[tuple[Node, Kind | None]]:
    """Set the kind of `node` and return what it is made of, `None` for a use outside of the graph."""
    match expr:
        case Constant(data=data):
            is_simple = not data.ndim and str(data.dtype) in _SIMPLE
            node.kind = Kind.ELEMENTWISE if is_simple else Kind.OPAQUE
            return []
        case Call(op=Op(name=name), args=args):
            node.kind = Kind(KIND_NUMBERS[pattern_kind(name)])
            result = types.get(expr)
            return [(arg, _use(node.kind, types.get(arg), result)) for arg in args]
        case Tuple(fields=fields):
            node.kind = Kind.TUPLE
            return [(item, Kind.INJECTIVE if isinstance(types.get(item), TensorType) else None) for item in fields]
        case TupleGetItem(tuple_value=inner):
            if not _holds_tensors(types.get(inner)):
                return [(inner, None)]
            node.kind = Kind.INJECTIVE
            return [(inner, Kind.INJECTIVE)]
        case _:
            return [(part, None) for part in _parts(expr)]


def _parts(expr: Node) -> list[Node]:
    """Return the expressions that `expr` is made of; those of a match are in its clauses."""
    found: list[Node] = []
    for child in children(expr):
        found.extend(children(child) if isinstance(child, Clause) else (child,))
    return found


def _use(kind: Kind, arg: Type | None, result: Type | None) -> Kind:
    """Return the kind of a use: an argument as large as the result is taken element by element."""
    if kind is Kind.BROADCAST and isinstance(arg, TensorType) and isinstance(result, TensorType):
        a, b = arg.dims, result.dims
        if a is not None and b is not None and len(a) == len(b) and all(map(prove_equal, a, b)):
            return Kind.ELEMENTWISE
    return kind


def _holds_tensors(type_: Type | None) -> bool:
    return isinstance(type_, TupleType) and all(isinstance(item, TensorType) for item in type_.fields)


def post_dominators(graph: FusionGraph) -> tuple[Domination, ...]:
    """Return for each value, by its index, the nearest one that all its uses lead to."""
    found: dict[int, Domination] = {}
    for node in reversed(graph.nodes):
        if node.is_external or not node.uses:
            found[node.index] = Domination(node, None, 1, Kind.OPAQUE)
            continue
        kind = Kind.ELEMENTWISE
        parent: Domination | None = found[node.uses[0][0].index]
        for user, use in node.uses:
            parent, kind = _meeting(parent, found[user.index], max(kind, use))
        depth = 1 if parent is None else parent.depth + 1
        found[node.index] = Domination(node, parent, depth, kind)
    return tuple(found[node.index] for node in graph.nodes)


def _meeting(a: Domination | None, b: Domination | None, kind: Kind) -> tuple[Domination | None, Kind]:
    """Return the nearest value that both lead to, and the widest kind on the ways to it."""
    while a is not b:
        if a is None or b is None:
            return None, kind
        if a.depth >= b.depth:
            kind = max(kind, a.kind)
            step_a = a.parent
        else:
            step_a = a
        if b.depth >= a.depth:
            kind = max(kind, b.kind)
            b = b.parent
        a = step_a
    return a, kind
