"""Rename functions of a module, where they are defined and wherever they are named."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from relax_core.ir.expr import GlobalVar
from relax_core.ir.module import Definition, IRModule, without_own_symbol
from relax_core.ir.node import Node
from relax_core.passes.core import PassContext
from relax_core.passes.functions import with_definitions


def renamed(
    module: IRModule, name_of: Mapping[str, str], ctx: PassContext, why: Callable[[Definition], str]
) -> IRModule:
    """Return `module` with functions under the names `name_of`, by their old ones; `why` says so in a remark."""
    made: dict[str, GlobalVar] = {}

    def rename(node: Node) -> Node | None:
        """Rule: global name -> the name that its function gets."""
        if not isinstance(node, GlobalVar) or node.name not in name_of:
            return None
        return made.setdefault(node.name, replace(node, name=name_of[node.name]))

    definitions: list[Definition] = []
    for item in module.definitions:
        new = ctx.rewrite(item, rename)
        if item.var.name in name_of:
            ctx.remark(new, "applied", f"@{item.var.name} is renamed to @{new.var.name}: {why(item)}")
            named = without_own_symbol(new.function, new.var.name)
            if named is not new.function:
                ctx.log.replace(new.function, named, "function with a global_symbol -> function of that name")
                new = ctx.derive(replace(new, function=named), item)
        definitions.append(new)
    return with_definitions(module, tuple(definitions), ctx)
