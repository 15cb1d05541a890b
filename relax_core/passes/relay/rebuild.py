"""Changing the functions of a Relay module, expression by expression, without recursion."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias, TypeVar, cast

from relax_core.analysis.regions import is_closed, open_postorder
from relax_core.ir.expr import Expr, Function, Var
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, map_children, postorder
from relax_core.ir.relay import Let
from relax_core.passes import functions
from relax_core.passes.core import PassContext

N = TypeVar("N", bound=Node)

Change: TypeAlias = Callable[[Node, Node], Node]
"""What takes the place of a node: given the node as it was, and as it is with its children changed."""
INLINE_LET: Final = "inline a let"
"""The rule by which the value of a let takes the place of its variable."""
NOTHING: Mapping[Node, Node] = MappingProxyType({})


def change_functions(
    module: IRModule, change: Callable[[Function], Function], ctx: PassContext, *, into_closed: bool = False
) -> IRModule:
    """Return `module` with `change` applied to its functions, those that stand for one operator only if `into_closed`.

    The same object if nothing changed.
    """
    return functions.change_functions(
        module, ctx, lambda _, item: item if is_closed(item) and not into_closed else change(item)
    )


def rebuild(
    root: N, change: Change, ctx: PassContext, value_of: Mapping[Node, Node] = NOTHING, *, into_closed: bool = False
) -> N:
    """Return `root` with `change` applied to every node below it, children first, each node once.

    The values of lets come before what uses their variables. A variable that is in `value_of` by the time that its
    use is met is replaced by what became of its value, and its let goes. Function literals that stand for one
    operator are not entered, unless `into_closed`.
    """
    new_of: dict[Node, Node] = {}

    def new(child: Node) -> Node:
        while child in value_of:
            child = value_of[child]
        return new_of.get(child, child)

    for node in postorder(root) if into_closed else open_postorder(root):
        is_kept = not into_closed and node is not root and isinstance(node, Function) and is_closed(node)
        if isinstance(node, Let) and node.var in value_of:
            new_of[node] = new(node.body)
            ctx.log.replace(node, new_of[node], INLINE_LET, known=(new_of[node],))
            continue
        rebuilt = node if is_kept else map_children(node, new)
        ctx.log.rebuilt(node, rebuilt)
        new_of[node] = change(node, rebuilt)
    return cast("N", new_of[root])


def keep(old: Node, rebuilt: Node) -> Node:
    """Change nothing."""
    return rebuilt


def let_vars(root: Expr) -> Mapping[Var, Let]:
    """Return the let of each variable that one binds below `root`."""
    return {node.var: node for node in postorder(root) if isinstance(node, Let)}
