"""Give every function its name in the compiled program."""

from dataclasses import replace

from relax_core.ir.attrs import attr
from relax_core.ir.module import Definition, IRModule
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.functions import with_definitions
from relax_core.passes.relax.interfaces.renaming import renamed

PREFIX = "system_lib_prefix"
"""The attribute of a module whose prim funcs are called by names that begin with it."""


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Make private functions and prim funcs public, so that the machine finds each of them by its name.

    A public function's `global_symbol` is its name in the module, as in TVM's texts, which do not show it; another one
    is overwritten. Names of prim funcs are made to begin with the module's `system_lib_prefix`. TVM puts it before
    those that begin with it already, so that a second run gives them other names.
    """
    definitions = tuple(_named(item, ctx) for item in module.definitions)
    named = with_definitions(module, definitions, ctx)
    prefix = attr(module.attrs, PREFIX)
    if not isinstance(prefix, str):
        return named
    name_of = {var.name: f"{prefix}{var.name}" for var, _ in named.prim_funcs if not var.name.startswith(prefix)}
    return renamed(named, name_of, ctx, lambda _: f"the {PREFIX} of the module")


def _named(item: Definition, ctx: PassContext) -> Definition:
    """Return a definition whose function is found by its name in the module."""
    function = item.function
    attrs = tuple(pair for pair in function.attrs if pair[0] != "global_symbol")
    if not function.is_private and len(attrs) == len(function.attrs):
        ctx.remark(function, "note", f"@{item.var.name} is public: its name is its symbol already")
        return item
    named = replace(function, is_private=False, attrs=attrs)
    ctx.log.replace(function, named, "private function -> function with global_symbol")
    ctx.remark(function, "applied", f"@{item.var.name} can be called by its name")
    return ctx.derive(replace(item, function=named), item)


PASS = Pass(
    "AttachGlobalSymbol",
    "Gives every function the global_symbol under which the machine finds it.",
    run,
    gives=("global symbols",),
    repairs=("WF017",),
    see="tvm/src/relax/transform/attach_global_symbol.cc",
)
