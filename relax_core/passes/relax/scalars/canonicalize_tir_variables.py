"""Replace symbolic dimensions by what casts prove of them."""

from relax_core.ir.expr import Function, GlobalVar
from relax_core.ir.module import IRModule
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.functions import change_functions
from relax_core.passes.relax.canonicalize_bindings import proven_symbols


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Replace each dimension that a `match_cast` binds to a known one; the casts and all bindings stay.

    This is the first half of CanonicalizeBindings, which TVM runs inside it under this name.
    """
    while (new := _once(module, ctx)) is not module:
        module = new
    return module


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
