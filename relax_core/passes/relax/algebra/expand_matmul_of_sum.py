"""Multiply the terms of a sum one by one."""

from relax_core.ir.expr import Call, Expr
from relax_core.ir.integer.prove import prove_equal
from relax_core.ir.module import IRModule
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.relax.algebra.rewriting import Site, rewrite_calls
from relax_core.passes.relax.operators.calls import op_call


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Write `x (a + b)` as `x a + x b`, also where the sum is transposed, unless the sum is one of weights.

    A sum that repeats a row stays: its terms are no matrices of the same height. The products have the dtype that the
    product of the sum asks for; TVM leaves that out, and the module is then ill-typed. TVM also expands a sum of
    weights one of which is computed by a binding, which costs products at run time; and stops where the terms of a
    transposed sum have different ranks.
    """
    return rewrite_calls(module, "matmul", _expanded, "a product of a sum is the sum of the products", ctx)


def _expanded(call: Call, site: Site) -> Expr | None:
    x, right, out_dtype = call.args
    transposed = site.call_of(right, "permute_dims")
    order = None if transposed is None else site.order_of(transposed)
    total = site.call_of(right if transposed is None else transposed.args[0], "add")
    if total is None or (transposed is not None and order is None):
        return None
    if site.is_compile_time(*total.args):
        site.missed("the sum is one of weights, which can be added before the function runs")
        return None
    if not _are_as_high(total, site, order):
        site.missed("the terms of the sum are not known to be matrices of one height")
        return None
    products: list[Expr] = []
    for term in total.args:
        factor = term if transposed is None else site.op("permute_dims", term, transposed.args[1])
        products.append(site.op("matmul", x, factor, out_dtype))
    return op_call("add", *products)


def _are_as_high(total: Call, site: Site, order: tuple[int, ...] | None) -> bool:
    """Tell whether the terms have the same number of rows, those of the transposed sum if there is an order of axes."""
    a, b = (site.dims(item) for item in total.args)
    if a is None or b is None or len(a) < 2 or len(b) < 2:
        return False
    if order is None:
        return prove_equal(a[-2], b[-2])
    return len(a) == len(b) == len(order) and prove_equal(a[order[-2]], b[order[-2]])


PASS = Pass(
    "ExpandMatmulOfSum",
    "Makes a sum of products of the product of a sum.",
    run,
    needs=("normal form",),
    see="tvm/src/relax/transform/expand_matmul_of_sum.cc",
)
