"""Replace symbolic dimensions by what casts prove of them."""

from collections.abc import Iterator
from functools import partial

from relax_core.ir.expr import Function, GlobalVar, MatchCast
from relax_core.ir.module import IRModule
from relax_core.ir.node import preorder
from relax_core.ir.rewriting.substitute import free_symbols
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.functions import change_functions
from relax_core.passes.relax.canonicalize_bindings import proven_symbols
from relax_core.passes.remarks import UnnumberedRemark


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Replace each dimension that a `match_cast` binds to a known one; the casts and all bindings stay.

    This is the first half of CanonicalizeBindings, which TVM runs inside it under this name.
    """
    while (new := _once(module, ctx)) is not module:
        module = new
    ctx.remark_on_reading(partial(_unproven, module))
    return module


def _unproven(module: IRModule) -> Iterator[UnnumberedRemark]:
    """Say which dimensions are known only when the program runs, since no cast proves what they are."""
    for _, function in module.relax_functions:
        bound = {symbol for param in function.params for symbol in free_symbols(param.annotation)}
        for item in preorder(function):
            if isinstance(item, MatchCast):
                for symbol in free_symbols(item.type):
                    if symbol not in bound:
                        bound.add(symbol)
                        words = f"{symbol.name} stays: what is cast to the type of {item.var.name} does not prove it"
                        yield UnnumberedRemark(item, "missed", words)


def _once(module: IRModule, ctx: PassContext) -> IRModule:
    type_of = ctx.types(module)

    def change(_: GlobalVar, function: Function) -> Function:
        proven = proven_symbols(function, type_of, ctx)
        return ctx.substitute(function, None, proven) if proven else function

    return change_functions(module, ctx, change)


PASS = Pass(
    "CanonicalizeTIRVariables",
    "Replaces symbolic dimensions by what casts prove of them; the first half of CanonicalizeBindings.",
    run,
    needs=("normal form",),
    see="tvm/src/relax/transform/canonicalize_bindings.cc",
)
