"""Give every public function its global_symbol as its name in the module."""

from relax_core.ir.attrs import attr
from relax_core.ir.module import BaseFunc, Definition, IRModule
from relax_core.ir.rewriting.builder import Names
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.relax.interfaces.renaming import renamed


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
    for item in sorted(module.definitions, key=lambda item: item.var.name):
        if item.function.is_private:
            name_of[item.var.name] = names.fresh(item.var.name)
    new_name = {old: new for old, new in name_of.items() if old != new}
    if not new_name:
        ctx.remark(module, "note", "every public function has its global_symbol as its name")
        return module
    return renamed(module, new_name, ctx, _reason)


def _symbol(function: BaseFunc) -> str | None:
    found = attr(function.attrs, "global_symbol")
    return found if isinstance(found, str) else None


def _reason(item: Definition) -> str:
    return "that is the name of a public function" if item.function.is_private else "its global_symbol"


PASS = Pass(
    "NormalizeGlobalVar",
    "Gives public functions their global_symbol as name, and private ones that are in the way another name.",
    run,
    repairs=("WF017",),
    see="tvm/src/relax/transform/normalize.cc",
)
