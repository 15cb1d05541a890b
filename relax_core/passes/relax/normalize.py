"""Bring every function into A-normal form."""

from collections.abc import Iterator
from functools import partial

from relax_core.ir.module import IRModule
from relax_core.ir.rewriting.builder import BIND, normalize
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.remarks import UnnumberedRemark, bound_values, value_name


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Bind every nested value to a variable, and flatten nested sequences; a tuple stays where it is an argument."""
    result = normalize(module, ctx.log)
    ctx.remark_on_reading(partial(_explained, module, result, ctx))
    return result


def _explained(module: IRModule, result: IRModule, ctx: PassContext) -> Iterator[UnnumberedRemark]:
    """Say which values got a variable, and of functions without such a value that they were rebuilt."""
    for definition, bound in bound_values(module, result, ctx.log.replacements, BIND):
        for value, var in bound:
            yield UnnumberedRemark(value, "applied", f"{value_name(value)} is bound to {value_name(var)}")
        if not bound:
            message = f"@{definition.var.name} becomes one flat sequence of bindings"
            yield UnnumberedRemark(definition.function, "applied", message)


PASS = Pass(
    "Normalize",
    "Binds every nested value to a variable: calls have variables, literals and tuples of these as arguments.",
    run,
    gives=("normal form",),
    see="tvm/src/relax/ir/block_builder.cc",
)
