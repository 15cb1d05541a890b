"""Multiply with all matrices and take from the products, in place of taking the matrices first."""

from relax_core.ir.expr import Call, Dims, Expr, PrimValue, ShapeExpr, Tuple
from relax_core.ir.integer.prove import constant_value, prove_equal, simplify
from relax_core.ir.module import IRModule
from relax_core.ir.prim import StringImm, binary, const
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.relax.algebra.rewriting import Site, rewrite_calls
from relax_core.passes.relax.operators.calls import ints, op_call


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Write `x take(w, i)` as a choice from `x w`.

    What is taken are columns, or one matrix for each of a stack of `x`. For these, TVM does not ask whether `x` is a
    stack of as many as are taken, and gives other values if a single one is repeated; that stays here.
    """
    return rewrite_calls(module, "matmul", _reordered, "what is taken of a matrix is taken of the product", ctx)


def _reordered(call: Call, site: Site) -> Expr | None:
    x, right, out_dtype = call.args
    take = site.call_of(right, "take")
    if take is None:
        return None
    weights, indices, axis, mode = take.args
    left, shape, chosen = site.dims(x), site.dims(weights), site.dims(indices)
    number = constant_value(axis.value) if isinstance(axis, PrimValue) else None
    if left is None or shape is None or chosen is None or len(chosen) != 1 or number is None:
        site.missed("the shapes are not known, or what is taken is no list along an axis")
        return None
    number %= len(shape)
    if number == len(shape) - 1 and len(shape) >= 2:
        product = site.op("matmul", x, weights, out_dtype)
        last = max(len(left) - 1, 0) if len(shape) == 2 else max(len(left), len(shape)) - 1 - (len(left) == 1)
        return op_call("take", product, indices, PrimValue(const(last)), mode)
    if number == 0 and len(shape) == 3 and len(left) == 3:
        if not prove_equal(left[0], chosen[0]):
            site.missed("it is not known that there is one matrix for each of the stack")
            return None
        return _of_stack(x, take, out_dtype, (left, shape), site)
    site.missed("what is taken are neither columns nor whole matrices")
    return None


def _of_stack(x: Expr, take: Call, out_dtype: Expr, shapes: tuple[Dims, Dims], site: Site) -> Expr:
    """Multiply with all matrices side by side, and take the block of each one's own matrix."""
    (batch, rows, _), (count, inner, columns) = shapes
    weights, indices, _, mode = take.args
    beside = site.op("permute_dims", weights, ints((1, 0, 2)))
    flat = site.op("reshape", beside, ShapeExpr((inner, simplify(binary("*", count, columns)))))
    product = site.op("matmul", x, flat, out_dtype)
    blocks = site.op("reshape", product, ShapeExpr((batch, rows, count, columns)))
    taken = site.op("take", blocks, indices, PrimValue(const(2)), mode)
    return op_call("einsum", Tuple((taken,)), PrimValue(StringImm("ijik->ijk")))


PASS = Pass(
    "ReorderTakeAfterMatmul",
    "Takes from products what was taken from their right factors.",
    run,
    needs=("normal form",),
    see="tvm/src/relax/transform/reorder_take_after_matmul.cc",
)
