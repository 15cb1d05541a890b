"""Give every public function its name in the compiled program."""

from dataclasses import replace

from relax_core.ir.attrs import has_attr, with_attr
from relax_core.ir.module import Definition, IRModule
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.functions import with_definitions


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Set `global_symbol` to the global name on every public function that has none."""
    definitions: list[Definition] = []
    for item in module.definitions:
        function = item.function
        if not (function.is_private or has_attr(function.attrs, "global_symbol")):
            named = replace(function, attrs=with_attr(function.attrs, "global_symbol", item.var.name))
            ctx.log.replace(function, named, "public function -> function with global_symbol")
            item = ctx.derive(replace(item, function=named), item)
        definitions.append(item)
    return with_definitions(module, tuple(definitions), ctx)


PASS = Pass(
    "AttachGlobalSymbol",
    "Sets global_symbol on every public function: the name under which the machine finds it.",
    run,
    gives=("global symbols",),
    see="tvm/src/relax/transform/attach_global_symbol.cc",
)
