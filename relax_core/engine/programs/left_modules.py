"""The ill-formed module that a pass left: its errors, placed in its own text.

What a pass makes has no place in the user's text, so its errors would have none. They are found again in a copy whose
nodes stand where they are printed.
"""

from dataclasses import replace
from typing import cast

from relax_core.check.check import check
from relax_core.ir.absent import absence_of
from relax_core.ir.expr import Constant, GlobalVar, SeqExpr, Var
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, map_children, postorder
from relax_core.ir.prim import PrimExpr
from relax_core.ir.tir import PrimFunc
from relax_core.present.drawings.faults import Faults
from relax_core.printer.printed import Printed
from relax_core.source import Source, Span


def faults_of(module: IRModule, printed: Printed, name: str) -> Faults:
    """Return the errors of `module`, which is `printed`; `name` is that of its text."""
    source = Source(name, printed.text)
    span_of: dict[Node, Span] = {}
    for item in printed.ranges:
        span_of.setdefault(item.node, Span(source, item.start, item.end))
    errors = tuple(item for item in check(_placed(module, span_of)) if item.severity == "error")
    return Faults(errors, span_of.get)


def _placed(module: IRModule, span_of: dict[Node, Span]) -> IRModule:
    """Return a copy of `module` with the places `span_of`.

    Variables and scalars stay the nodes that they are: types, which hold them as well, are not copied. Prim funcs are
    not copied either, as their buffers know each other.
    """
    copy_of: dict[Node, Node] = {item: item for item in postorder(*(function for _, function in module.prim_funcs))}
    for node in postorder(module):
        if node not in copy_of:
            copy_of[node] = node if _stays(node) else _copy(node, copy_of, span_of)
    return cast("IRModule", copy_of[module])


def _copy(node: Node, copy_of: dict[Node, Node], span_of: dict[Node, Span]) -> Node:
    """Copy a node. A body has no place of its own: an error in it that is at no binding is at its result."""
    place = span_of.get(node.body if isinstance(node, SeqExpr) else node)
    return replace(map_children(node, copy_of.__getitem__), span=place)


def _stays(node: Node) -> bool:
    # What is known of a constant without data is known of the node.
    is_absent = isinstance(node, Constant) and absence_of(node) is not None
    return is_absent or isinstance(node, Var | GlobalVar | PrimExpr | PrimFunc)
