"""Give every public function its global_symbol as its name in the module."""

from dataclasses import replace

from relax_core.ir.attrs import attr
from relax_core.ir.expr import GlobalVar
from relax_core.ir.module import BaseFunc, Definition, IRModule, without_own_symbol
from relax_core.ir.node import Node
from relax_core.ir.rewriting.builder import Names
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.functions import with_definitions


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Rename public functions to their global_symbol, and private ones that have such a name to a fresh one."""
    names = Names()
    name_of: dict[str, str] = {}
    for item in module.definitions:
        if not item.function.is_private:
            symbol = _symbol(item.function) or item.var.name
            if symbol in name_of.values():
                ctx.fail("WF014", f"two public functions have the global_symbol {symbol}", item, "rename one of them")
            names.take(symbol)
            name_of[item.var.name] = symbol
    for item in module.definitions:
        if item.function.is_private:
            name_of[item.var.name] = names.fresh(item.var.name)
    renamed = {old: new for old, new in name_of.items() if old != new}
    if not renamed:
        ctx.remark(module, "note", "every public function has its global_symbol as its name")
        return module
    return _renamed(module, renamed, ctx)


def _symbol(function: BaseFunc) -> str | None:
    found = attr(function.attrs, "global_symbol")
    return found if isinstance(found, str) else None


def _renamed(module: IRModule, name_of: dict[str, str], ctx: PassContext) -> IRModule:
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
            why = "that is the name of a public function" if item.function.is_private else "its global_symbol"
            ctx.remark(new, "applied", f"@{item.var.name} is renamed to @{new.var.name}: {why}")
            named = without_own_symbol(new.function, new.var.name)
            if named is not new.function:
                ctx.log.replace(new.function, named, "function with a global_symbol -> function of that name")
                new = ctx.derive(replace(new, function=named), item)
        definitions.append(new)
    return with_definitions(module, tuple(definitions), ctx)


PASS = Pass(
    "NormalizeGlobalVar",
    "Gives public functions their global_symbol as name, and private ones that are in the way another name.",
    run,
    repairs=("WF017",),
    see="tvm/src/relax/transform/normalize.cc",
)
