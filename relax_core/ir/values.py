"""The parts of Relay nodes that hold values: all but the operators that calls name, which no pass takes apart."""

from collections.abc import Mapping
from typing import Any

from relax_core.ir.expr import Call, Op
from relax_core.ir.node import Node
from relax_core.ir.relay import Let


def value_parts(node: Node) -> tuple[Node, ...]:
    """Return the children of `node` in the order of evaluation and scope, without the operator that a call names."""
    # A check of the class itself is the shortest one; most nodes are calls of operators.
    if type(node) is Call and type(node.op) is Op:
        return node.args
    return node.PARTS(node)


def with_values(node: Node, new_of: Mapping[Node, Any]) -> Node:
    """Return `node` with what its parts have become, or `node` itself if they are what they were.

    A part that is not among `new_of` stays.
    """
    before = value_parts(node)
    return with_parts(node, before, tuple([new_of.get(part, part) for part in before]))


def rebuilt(node: Node, before: tuple[Node, ...], new_of: Mapping[Node, Any]) -> Node:
    """Return `node`, whose value parts are `before`, with what they have become: itself if nothing changed.

    Raises:
        KeyError: a part is not among `new_of`.
    """
    # Most nodes of an annotated function have one part.
    after = (new_of[before[0]],) if len(before) == 1 else tuple([new_of[part] for part in before])
    return with_parts(node, before, after)


def with_parts(node: Node, before: tuple[Node, ...], after: tuple[Any, ...]) -> Node:
    """Return `node` with `after` in the place of its value parts, which are `before`."""
    # Nodes compare by identity.
    if after == before:
        return node
    if type(node) is Call and type(node.op) is Op:
        # Most calls that a pass made have no span, and are made in half the time without keywords.
        if node.span is None:
            return Call(node.op, after, node.attrs, node.type_args)
        return Call(node.op, after, node.attrs, node.type_args, span=node.span)
    if type(node) is Let:
        return Let(after[0], after[1], after[2], node.attrs, span=node.span)
    return node.WITH_CHILDREN(node, after)
