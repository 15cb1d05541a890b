"""Give symbolic dimensions their values."""

from dataclasses import dataclass

from relax_core.ir.expr import Function, GlobalVar
from relax_core.ir.integer.prove import constant_value
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node
from relax_core.ir.prim import Binary, PrimExpr, PrimVar, const
from relax_core.ir.rewriting.substitute import free_symbols
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.functions import change_functions
from relax_core.passes.relax.scalars.canonical_dims import canonical_dim


@dataclass(frozen=True, slots=True)
class BindSymbolicVarsOptions:
    """`binding_map` are the sizes by name; `func_name` is the function that is changed, all if it is empty."""

    binding_map: tuple[tuple[str, int], ...] = ()
    func_name: str = ""


def run(module: IRModule, options: BindSymbolicVarsOptions, ctx: PassContext) -> IRModule:
    """Replace symbolic dimensions by numbers, also those that a match_cast binds: it then compares."""
    sizes = dict(options.binding_map)
    if options.func_name and options.func_name not in module:
        ctx.fail("PS018", f"there is no function {options.func_name}", module, f"functions: {', '.join(module.names)}")
    found: set[str] = set()

    def change(var: GlobalVar, function: Function) -> Function:
        if options.func_name not in ("", var.name):
            return function
        symbols: dict[PrimVar, PrimExpr] = {}
        for symbol in free_symbols(function):
            if symbol.name in sizes:
                if any(other.name == symbol.name for other in symbols):
                    ctx.fail("PS018", f"@{var.name} has several dimensions {symbol.name}", function, "rename them")
                symbols[symbol] = const(sizes[symbol.name], symbol.dtype)
                ctx.remark(function, "applied", f"{symbol.name} of @{var.name} is {sizes[symbol.name]}")
            else:
                ctx.remark(function, "missed", f"{symbol.name} of @{var.name} stays: binding_map has no size for it")
        found.update(symbol.name for symbol in symbols)
        if not symbols:
            return function
        return ctx.rewrite(ctx.substitute(function, None, symbols, canonical_dim), _fold)

    changed = change_functions(module, ctx, change)
    missing = [name for name in sizes if name not in found]
    if missing:
        known = dict.fromkeys(
            symbol.name for _, function in module.relax_functions for symbol in free_symbols(function)
        )
        where = f"in @{options.func_name}" if options.func_name else "in the module"
        ctx.fail("PS018", f"there is no dimension {missing[0]} {where}", module, f"dimensions: {', '.join(known)}")
    return changed


def _fold(node: Node) -> Node | None:
    """Rule: expression of numbers -> number."""
    if not isinstance(node, Binary):
        return None
    value = constant_value(node)
    return None if value is None else const(value, node.dtype)


PASS = Pass(
    "BindSymbolicVars",
    "Gives symbolic dimensions their values.",
    run,
    options=BindSymbolicVarsOptions,
    see="tvm/src/relax/transform/bind_symbolic_vars.cc",
)
