"""Splitting the ends of tuples: the end of a tuple of a region becomes a tuple of ends.

See: FlattenTupleOutputs in tvm/src/relay/transforms/partition_graph.cc, v0.19
"""

from collections.abc import Mapping, Set

from relax_core.analysis.regions import DEFAULT, Values, annotated_target, end, is_annotation, is_begin, open_values
from relax_core.ir.expr import Call, Expr, Tuple, Type
from relax_core.ir.node import Node
from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.ir.values import rebuilt
from relax_core.passes.core import keep_type


def is_split(node: Call, behind: Mapping[Node, Expr]) -> bool:
    """Tell whether an end encloses a tuple with fields; `behind` is what stands behind annotations of no target."""
    inner = behind.get(node.args[0], node.args[0])
    return isinstance(inner, Tuple) and bool(inner.fields)


def split_tuples(order: Values, ends: Set[Node], types: dict[Node, Type], log: RewriteLog) -> Values:
    """Return the `open_values` of a function with each of `ends` around the fields of its tuple; they were `order`."""
    new_of: dict[Node, Node] = {}
    for node, parts in order.items():
        if node in ends and isinstance(node, Call):
            new_of[node] = _fields_ended(node, new_of, types)
        else:
            new_of[node] = rebuilt(node, parts, new_of)
            keep_type(types, node, new_of[node])
        log.rebuilt(node, new_of[node])
    return open_values(new_of[next(reversed(order))])


def _fields_ended(node: Call, new_of: Mapping[Node, Node], types: dict[Node, Type]) -> Tuple:
    inner = _plain(new_of[node.args[0]])
    assert isinstance(inner, Tuple), "a tuple stays one"
    new = Tuple(tuple(_field(_plain(item), annotated_target(node)) for item in inner.fields), span=node.span)
    keep_type(types, enclosed(node, types), new)
    return new


def _plain(node: Node) -> Expr:
    """Return what stands behind annotations of no target."""
    while is_annotation(node) and annotated_target(node) == DEFAULT:
        node = node.args[0]
    assert isinstance(node, Expr), "an expression stays one"
    return node


def _field(item: Expr, target: str) -> Expr:
    """Return the end of a field of a tuple; a value that only passes through is the value itself."""
    return item.args[0] if is_begin(item) else end(item, target)


def enclosed(node: Node, types: Mapping[Node, Type]) -> Node:
    """Return the value that has the type of `node`: itself, or behind annotations whose types are not known."""
    while node not in types and is_annotation(node):
        node = node.args[0]
    return node
