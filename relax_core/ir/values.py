"""The parts of Relay nodes that hold values: all but the operators that calls name, which no pass takes apart."""

from collections.abc import Mapping, Sequence
from typing import Any

from relax_core.ir.expr import Call, Op
from relax_core.ir.node import Node
from relax_core.ir.relay import Let


def value_parts(node: Node) -> tuple[Node, ...]:
    """Return the children of `node` in the order of evaluation and scope, without the operator that a call names."""
    if isinstance(node, Call) and isinstance(node.op, Op):
        return node.args
    return node.PARTS(node)


def with_values(node: Node, new_of: Mapping[Node, Any]) -> Node:
    """Return `node` with what its parts have become, or `node` itself if they are what they were.

    A part that is not among `new_of` stays.
    """
    return _with_parts(node, [new_of.get(part, part) for part in value_parts(node)])


def rebuilt(node: Node, new_of: Mapping[Node, Any]) -> Node:
    """Return `node` with what its parts have become, all of which are known, or `node` itself if nothing changed.

    Raises:
        KeyError: a part is not among `new_of`.
    """
    if isinstance(node, Call) and isinstance(node.op, Op):
        before = node.args
        # Most nodes of an annotated function have one part.
        after = (new_of[before[0]],) if len(before) == 1 else tuple([new_of[part] for part in before])
        return node if after == before else Call(node.op, after, node.attrs, node.type_args, span=node.span)
    return _with_parts(node, [new_of[part] for part in value_parts(node)])


def _with_parts(node: Node, parts: Sequence[Any]) -> Node:
    match node:
        case Call(op=Op()):
            args = tuple(parts)
            # Nodes compare by identity.
            return node if args == node.args else Call(node.op, args, node.attrs, node.type_args, span=node.span)
        case Let():
            var, value, body = parts
            is_same = value is node.value and body is node.body and var is node.var
            return node if is_same else Let(var, value, body, span=node.span)
        case _:
            after = tuple(parts)
            return node if after == node.PARTS(node) else node.WITH_CHILDREN(node, after)
