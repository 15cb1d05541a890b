"""Choose the order of two products of matrices."""

from collections.abc import Sequence
from functools import reduce

from relax_core.ir.expr import Call, Dims, Expr, Null
from relax_core.ir.integer.prove import canonical_form
from relax_core.ir.module import IRModule
from relax_core.ir.prim import PrimExpr, binary, const
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.relax.algebra.rewriting import Site, rewrite_calls
from relax_core.passes.relax.operators.calls import ints, op_call


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Write `(a b) c` as `a (b c)`, or the reverse, where that takes provably fewer multiplications.

    Weights, the parameters behind the first `num_input`, are multiplied with each other first, since that can be done
    before the function runs. `permute_dims` of a product, of the matrices of a stack one by one, is the product of the
    transposed in reverse order. Products that are made are looked at again, which TVM does not do. A product that asks
    for another dtype stays.
    """
    return rewrite_calls(module, "matmul", _reordered, "the order of two products is changed", ctx)


def _reordered(call: Call, site: Site) -> Expr | None:
    left, right, out_dtype = call.args
    for expr, is_left in ((left, True), (right, False)):
        factors = _factors(expr, site)
        if factors is None:
            continue
        parts = (*factors, (right, False)) if is_left else ((left, False), *factors)
        if not isinstance(out_dtype, Null):
            site.missed("it asks for another dtype")
            return None
        return _chosen(parts, site, is_left=is_left)
    return None


Factor = tuple[Expr, bool]
"""A factor, and whether it is transposed."""


def _factors(expr: Expr, site: Site) -> tuple[Factor, Factor] | None:
    """Return the factors of a product, or of a transposed one."""
    product = site.call_of(expr, "matmul")
    if product is not None and isinstance(product.args[2], Null):
        return (product.args[0], False), (product.args[1], False)
    transposed = site.call_of(expr, "permute_dims")
    order = None if transposed is None else site.order_of(transposed)
    if transposed is None or order is None or order != _transposition(len(order)):
        return None
    inner = site.call_of(transposed.args[0], "matmul")
    if inner is None or not isinstance(inner.args[2], Null):
        return None
    factors = inner.args[1], inner.args[0]
    if any(len(site.dims(item) or ()) < 2 for item in factors):
        return None
    return (factors[0], True), (factors[1], True)


def _chosen(parts: Sequence[Factor], site: Site, *, is_left: bool) -> Expr | None:
    """Return the product in the other order, if that is better; `is_left` tells that it begins from the left now."""
    shapes = [_shape(item, site) for item in parts]
    a, b, c = shapes
    if a is None or b is None or c is None or len(b) < 2:
        site.missed("a shape is not known")
        return None
    exprs = [item for item, _ in parts]
    from_left = _cost(a, b) + _cost(_product(a, b), c)
    from_right = _cost(b, c) + _cost(a, _product(b, c))
    if site.is_compile_time(*exprs[:2]):
        begins_left = True
    elif site.is_compile_time(*exprs[1:]):
        begins_left = False
    elif _is_less(from_left, from_right):
        begins_left = True
    elif _is_less(from_right, from_left):
        begins_left = False
    else:
        site.missed("no order of its two products is provably cheaper")
        return None
    if begins_left == is_left:
        return None
    return _made(parts, site, begins_left=begins_left)


def _made(parts: Sequence[Factor], site: Site, *, begins_left: bool) -> Expr:
    def value(part: Factor) -> Expr:
        expr, is_transposed = part
        if not is_transposed:
            return expr
        rank = len(site.dims(expr) or ())
        return site.op("permute_dims", expr, *(() if rank == 2 else (ints(_transposition(rank)),)))

    if begins_left:
        first = site.op("matmul", value(parts[0]), value(parts[1]))
        return op_call("matmul", first, value(parts[2]))
    outer = value(parts[0])
    return op_call("matmul", outer, site.op("matmul", value(parts[1]), value(parts[2])))


def _shape(part: Factor, site: Site) -> Dims | None:
    expr, is_transposed = part
    dims = site.dims(expr)
    return (*dims[:-2], *dims[:-3:-1]) if dims is not None and is_transposed else dims


def _transposition(rank: int) -> tuple[int, ...]:
    """Return the order of axes that transposes each matrix of a stack."""
    return (*range(rank - 2), rank - 1, rank - 2)


def _product(a: Dims, b: Dims) -> Dims:
    """Return the shape of a product; of stacks the longer one, for both are as many or one of them is repeated."""
    batch = a[:-2] if len(a) >= len(b) else b[:-2]
    return (*batch, *a[-2:-1], *(b[-1:] if len(b) > 1 else ()))


Cost = list[PrimExpr]
"""Terms of a sum."""


def _cost(a: Dims, b: Dims) -> Cost:
    """Return the number of multiplications of a product."""
    return [reduce(lambda x, y: binary("*", x, y), (*_product(a, b), a[-1]), const(1))]


def _is_less(a: Cost, b: Cost) -> bool:
    """Tell whether one sum is less than the other for all sizes that are not 0."""
    total = reduce(lambda x, y: binary("+", x, y), b)
    terms = canonical_form(binary("-", total, reduce(lambda x, y: binary("+", x, y), a)))
    return bool(terms) and all(factor >= 0 for factor in terms.values()) and any(terms.values())


PASS = Pass(
    "AdjustMatmulOrder",
    "Chooses the cheaper order of two matrix products in a row.",
    run,
    needs=("normal form",),
    see="tvm/src/relax/transform/adjust_matmul_order.cc",
)
