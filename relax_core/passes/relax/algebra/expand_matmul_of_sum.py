"""Multiply the terms of a sum one by one."""

from relax_core.ir.expr import Call, Expr, Null
from relax_core.ir.integer.prove import prove_equal
from relax_core.ir.module import IRModule
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.relax.algebra.rewriting import Site, rewrite_calls
from relax_core.passes.relax.operators.calls import op_call


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Write `x (a + b)` as `x a + x b`, also where the sum is transposed, unless the sum is one of weights.

    A sum that repeats a row stays: its terms are no matrices of the same height. The products have the dtype that the
    product of the sum asks for; TVM leaves that out, and the module is then ill-typed.
    """
    return rewrite_calls(module, "matmul", _expanded, "a product of a sum is the sum of the products", ctx)


def _expanded(call: Call, site: Site) -> Expr | None:
    x, right, out_dtype = call.args
    transposed = site.call_of(right, "permute_dims")
    if transposed is not None and not isinstance(transposed.args[1], Null):
        return None
    total = site.call_of(right if transposed is None else transposed.args[0], "add")
    if total is None:
        return None
    if site.is_compile_time(*total.args):
        site.missed("the sum is one of weights, which can be added before the function runs")
        return None
    if not _are_as_high(total, site, axis=-2 if transposed is None else -1):
        site.missed("the terms of the sum are not known to be matrices of one height")
        return None
    products: list[Expr] = []
    for term in total.args:
        factor = term if transposed is None else site.op("permute_dims", term)
        products.append(site.op("matmul", x, factor, out_dtype))
    return op_call("add", *products)


def _are_as_high(total: Call, site: Site, *, axis: int) -> bool:
    a, b = (site.dims(item) for item in total.args)
    if a is None or b is None or len(a) < 2 or len(b) < 2:
        return False
    if axis == -1 and len(a) != len(b):
        return False
    return prove_equal(a[axis], b[axis])


PASS = Pass(
    "ExpandMatmulOfSum",
    "Makes a sum of products of the product of a sum.",
    run,
    needs=("normal form",),
    see="tvm/src/relax/transform/expand_matmul_of_sum.cc",
)
