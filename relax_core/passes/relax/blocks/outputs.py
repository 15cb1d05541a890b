"""Which variables of a dataflow block are seen outside it."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import TypeAlias

from relax_core.ir.expr import Binding, BindingBlock, DataflowBlock, DataflowVar, Expr, Function, SeqExpr, Var
from relax_core.ir.node import Node, children, nodes_in
from relax_core.ir.rewriting.substitute import type_nodes, types_in
from relax_core.passes.core import PassContext

Uses: TypeAlias = Mapping[Var, AbstractSet[DataflowBlock | None]]


def hide_outputs(function: Function, ctx: PassContext, shown: AbstractSet[Var] = frozenset()) -> Function:
    """Make a variable that is bound by a dataflow block, and used nowhere else, one that only the block sees.

    What is in `shown` stays an output.
    """
    blocks = [item for item in nodes_in(function) if isinstance(item, DataflowBlock)]
    seen_in: Uses = blocks_of_uses(function) if blocks else {}
    hidden: dict[Var, Expr] = {}
    for block in blocks:
        outputs = (item for item in block.bindings if not isinstance(item.var, DataflowVar))
        for item in outputs:
            var = item.var
            if seen_in[var] <= {block} and var not in shown:
                message = f"{var.name} is no output of its dataflow block: nothing outside uses it"
                ctx.remark(item, "applied", message)
                hidden[var] = ctx.derive(DataflowVar(var.name, var.annotation, span=var.span), var)
    return ctx.substitute(function, hidden) if hidden else function


def seen_outside(function: Function) -> Iterator[Var]:
    """Yield the variables that are bound by a dataflow block and used elsewhere, and those that none binds."""
    blocks = [item for item in nodes_in(function) if isinstance(item, BindingBlock)]
    has_dataflow = any(isinstance(item, DataflowBlock) for item in blocks)
    seen_in: Uses = blocks_of_uses(function) if has_dataflow else {}
    for block in blocks:
        for item in block.bindings:
            if not isinstance(block, DataflowBlock) or not seen_in[item.var] <= {block}:
                yield item.var


def blocks_of_uses(function: Function) -> Uses:
    """Return for each variable the dataflow blocks in which it is used; `None` stands for a use outside all.

    A local function is outside all blocks but its own. What a type says is a use, the binding itself is none.
    """
    found: dict[Var, set[DataflowBlock | None]] = defaultdict(set)
    seen: set[tuple[Node, DataflowBlock | None]] = set()
    stack: list[tuple[Node, DataflowBlock | None]] = [(function, None)]
    while stack:
        current, block = entry = stack.pop()
        if entry in seen:
            continue
        seen.add(entry)
        for type_ in types_in(current):
            stack += ((item, block) for item in type_nodes(type_))
        match current:
            case Var():
                found[current].add(block)
            case Binding(var=var, value=value):
                stack.append((value, block))
                stack += ((item, block) for type_ in types_in(var) for item in type_nodes(type_))
            case DataflowBlock():
                stack += ((item, current) for item in children(current))
            case Function(params=params, body=body):
                stack.append((body, None))
                stack += ((item, None) for param in params for type_ in types_in(param) for item in type_nodes(type_))
            case _:
                stack += ((item, block) for item in children(current))
    return found


def show_outputs(function: Function, ctx: PassContext) -> Function:
    """Make a variable that only its dataflow block sees, but something else uses, an output of the block."""
    seen_in = blocks_of_uses(function)
    shown: dict[Var, Expr] = {}
    for block in nodes_in(function):
        for item in block.bindings if isinstance(block, DataflowBlock) else ():
            var = item.var
            if isinstance(var, DataflowVar) and not seen_in[var] <= {block}:
                shown[var] = ctx.derive(Var(var.name, var.annotation, span=var.span), var)
    return ctx.substitute(function, shown) if shown else function


def join_dataflow(node: Node) -> Node | None:
    """Rule: neighbouring dataflow blocks -> one dataflow block."""
    if not isinstance(node, SeqExpr):
        return None
    blocks: list[BindingBlock] = []
    for item in node.blocks:
        if isinstance(item, DataflowBlock) and blocks and isinstance(blocks[-1], DataflowBlock):
            blocks[-1] = DataflowBlock((*blocks[-1].bindings, *item.bindings), span=blocks[-1].span)
        else:
            blocks.append(item)
    return replace(node, blocks=tuple(blocks)) if len(blocks) < len(node.blocks) else None
