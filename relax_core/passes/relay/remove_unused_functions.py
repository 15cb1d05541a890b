"""RemoveUnusedFunctions: functions that no entry leads to go.

See: tvm/src/relay/backend/vm/removed_unused_funcs.cc, v0.19
"""

from dataclasses import dataclass, replace
from difflib import get_close_matches

from relax_core.analysis.call_graph import reachable
from relax_core.ir.module import IRModule
from relax_core.passes.core import Pass, PassContext


@dataclass(frozen=True, slots=True)
class RemoveUnusedFunctionsOptions:
    """`entry_functions` are the names of the functions that are called from outside."""

    entry_functions: tuple[str, ...] = ("main",)

    def __post_init__(self) -> None:
        if isinstance(self.entry_functions, str):
            raise ValueError("entry_functions is a list of names")


def run(module: IRModule, options: RemoveUnusedFunctionsOptions, ctx: PassContext) -> IRModule:
    """Keep the entries and what they lead to.

    Raises:
        CompileError: PS007 for an entry that is not there.
    """
    for name in options.entry_functions:
        if name not in module:
            near = get_close_matches(name, module.names, n=1)
            hint = f"did you mean {near[0]}?" if near else f"functions: {', '.join(module.names)}"
            ctx.fail("PS007", f"there is no function @{name} to start from", module, hint)
    used = reachable(module, [item.var for item in module if item.var.name in options.entry_functions])
    kept = tuple(item for item in module.definitions if item.var in used)
    for item in module.definitions:
        if item not in kept:
            ctx.remark(item, "applied", f"@{item.var.name} goes: no entry leads to it")
    if len(kept) == len(module.definitions):
        return module
    return ctx.derive(replace(module, definitions=kept), module)


PASS = Pass(
    "RemoveUnusedFunctions",
    "Removes the functions that no entry leads to.",
    run,
    options=RemoveUnusedFunctionsOptions,
    dialect="relay",
    see="tvm/src/relay/backend/vm/removed_unused_funcs.cc",
    reads_data=False,
)
