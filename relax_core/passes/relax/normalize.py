"""Bring every function into A-normal form."""

from relax_core.ir.module import IRModule
from relax_core.ir.rewriting.builder import normalize
from relax_core.passes.core import NoOptions, Pass, PassContext


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Bind every nested value to a variable, and flatten nested sequences."""
    return normalize(module, ctx.log)


PASS = Pass(
    "Normalize",
    "Binds every nested value to a variable, so that each call has variables and literals as arguments.",
    run,
    gives=("normal form",),
    see="tvm/src/relax/ir/block_builder.cc",
)
