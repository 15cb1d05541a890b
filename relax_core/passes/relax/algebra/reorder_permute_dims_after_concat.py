"""Transpose once what was transposed in parts and then joined."""

from relax_core.ir.expr import Call, Expr, PrimValue, Tuple
from relax_core.ir.integer.prove import constant_value
from relax_core.ir.module import IRModule
from relax_core.ir.prim import const
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.relax.algebra.rewriting import Site, rewrite_calls
from relax_core.passes.relax.operators.calls import op_call


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Write `concat(permute_dims(a), permute_dims(b))` as `permute_dims(concat(a, b))`, of two tensors or more."""
    return rewrite_calls(module, "concat", _reordered, "what is transposed in parts is transposed as a whole", ctx)


def _reordered(call: Call, site: Site) -> Expr | None:
    parts, axis = call.args
    known = parts if isinstance(parts, Tuple) else site.value_of.get(parts)
    if not isinstance(known, Tuple) or len(known.fields) < 2:
        return None
    calls = [site.call_of(item, "permute_dims") for item in known.fields]
    found = [item for item in calls if item is not None]
    if len(found) < len(calls):
        return None
    orders = [site.order_of(item) for item in found]
    number = constant_value(axis.value) if isinstance(axis, PrimValue) else None
    order = orders[0]
    if number is None or order is None or any(item != order for item in orders):
        site.missed("its parts are not all transposed alike")
        return None
    joined = Tuple(tuple(item.args[0] for item in found))
    whole = site.op("concat", joined, PrimValue(const(order[number % len(order)])))
    return op_call("permute_dims", whole, found[0].args[1])


PASS = Pass(
    "ReorderPermuteDimsAfterConcat",
    "Transposes once what was transposed in parts and then joined.",
    run,
    needs=("normal form",),
    see="tvm/src/relax/transform/reorder_permute_dims_after_concat.cc",
)
