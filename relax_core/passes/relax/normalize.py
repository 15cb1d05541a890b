"""Bring every function into A-normal form."""

from collections.abc import Iterator
from functools import partial

from relax_core.ir.module import IRModule
from relax_core.ir.node import preorder
from relax_core.ir.rewriting.builder import BIND, normalize
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.remarks import UnnumberedRemark, value_name


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Bind every nested value to a variable, and flatten nested sequences."""
    result = normalize(module, ctx.log)
    ctx.remark_on_reading(partial(_explained, module, result, ctx))
    return result


def _explained(module: IRModule, result: IRModule, ctx: PassContext) -> Iterator[UnnumberedRemark]:
    """Say which values got a variable, and of functions without such a value that they were rebuilt."""
    bound = {item.after[0]: item.before for item in ctx.log.replacements if item.rule == BIND}
    for old, new in zip(module.definitions, result.definitions, strict=True):
        if new is old:
            continue
        named = [item for item in preorder(new.function) if item in bound]
        for var in dict.fromkeys(named):
            yield UnnumberedRemark(bound[var], "applied", f"{value_name(bound[var])} is bound to {value_name(var)}")
        if not named:
            yield UnnumberedRemark(old.function, "applied", f"@{old.var.name} becomes one flat sequence of bindings")


PASS = Pass(
    "Normalize",
    "Binds every nested value to a variable, so that each call has variables and literals as arguments.",
    run,
    gives=("normal form",),
    see="tvm/src/relax/ir/block_builder.cc",
)
