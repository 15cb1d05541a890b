"""Give every function its name in the compiled program."""

from dataclasses import replace

from relax_core.ir.module import Definition, IRModule
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.functions import with_definitions


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Make private functions and prim funcs public, so that the machine finds each of them by its name.

    A public function's `global_symbol` is its name in the module, as in TVM's texts, which do not show it.
    """
    definitions: list[Definition] = []
    for item in module.definitions:
        function = item.function
        if function.is_private:
            named = replace(function, is_private=False)
            ctx.log.replace(function, named, "private function -> function with global_symbol")
            ctx.remark(function, "applied", f"@{item.var.name} can be called by its name")
            item = ctx.derive(replace(item, function=named), item)
        definitions.append(item)
    return with_definitions(module, tuple(definitions), ctx)


PASS = Pass(
    "AttachGlobalSymbol",
    "Gives every function the global_symbol under which the machine finds it.",
    run,
    gives=("global symbols",),
    see="tvm/src/relax/transform/attach_global_symbol.cc",
)
