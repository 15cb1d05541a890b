"""The parts of Relay nodes that hold values: all but the operators that calls name, which no pass takes apart."""

from collections.abc import Mapping
from typing import Any

from relax_core.ir.expr import Call, Op
from relax_core.ir.node import Node, map_children


def value_parts(node: Node) -> tuple[Node, ...]:
    """Return the children of `node` in the order of evaluation and scope, without the operator that a call names."""
    if isinstance(node, Call) and isinstance(node.op, Op):
        return node.args
    return node.PARTS(node)


def with_values(node: Node, new_of: Mapping[Node, Any]) -> Node:
    """Return `node` with what its parts have become, or `node` itself if they are what they were.

    A part that is not among `new_of` stays.
    """
    if isinstance(node, Call) and isinstance(node.op, Op):
        args = tuple([new_of.get(part, part) for part in node.args])
        # Nodes compare by identity.
        return node if args == node.args else Call(node.op, args, node.attrs, node.type_args, span=node.span)
    return map_children(node, lambda part: new_of.get(part, part))
