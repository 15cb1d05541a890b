"""What a pass that rewrites values leaves: values that are computed twice, other names, and what nothing uses."""

from relax_core.ir.expr import BindingBlock
from relax_core.ir.module import IRModule
from relax_core.ir.node import preorder
from relax_core.passes.core import PassContext
from relax_core.passes.relax import canonicalize_bindings, eliminate_common_subexpr
from relax_core.passes.relax.dead_code_elimination import without_unused
from relax_core.passes.relax.eliminate_common_subexpr import CSEOptions


def without_redundancy(before: IRModule, module: IRModule, ctx: PassContext) -> IRModule:
    """Compute the same value once, and drop other names and unused bindings, in every function; all functions stay.

    TVM does so behind each pass that rewrites values by patterns. A module in which nothing was rewritten, `before`
    itself, stays as it is if all its bindings stand in dataflow blocks, as in TVM.
    """
    plain = (type(item) is BindingBlock for _, function in module.relax_functions for item in preorder(function))
    if module is before and not any(plain):
        return module
    # What is the same is often so only by the names of its parts.
    shared = eliminate_common_subexpr.shared(canonicalize_bindings.canonicalized(module, ctx), CSEOptions(), ctx)
    return without_unused(canonicalize_bindings.canonicalized(shared, ctx), ctx)
