"""Dtypes that Relay lets an operator have and Relax does not, such as the logarithm of integers."""

from collections.abc import Mapping

from relax_core.ir.expr import Call, Constant, Expr, Op, PrimValue
from relax_core.ir.node import Node, postorder
from relax_core.ir.prim import const, dtype_of
from relax_core.ir.types import PrimType, TensorType, Type
from relax_core.ops import OPS
from relax_core.ops.relay.spec import RelayCall
from relax_core.ops.spec import OpTypeError

_WRONG_DTYPE = "TY033"


def wrong_dtype(call: RelayCall, made: Expr) -> OpTypeError | None:
    """Return why Relax refuses the dtype of what it makes of a call; `None` if it does not, or if nothing is known."""
    known: dict[Node, Type] = dict(zip(call.exprs, call.args, strict=True))
    for node in postorder(made):
        if node in known or not isinstance(node, Call) or not isinstance(node.op, Op):
            continue
        spec = OPS.get(node.op.name)
        types = [_type_of(item, known) for item in node.args]
        found = [item for item in types if item is not None]
        if spec is None or len(found) < len(types):
            continue
        try:
            known[node] = spec.infer(node, tuple(found))
        except OpTypeError as error:
            if error.code == _WRONG_DTYPE:
                return call.refuse(f"cannot be expressed in Relax: {error.message}", _HINT)
    return None


_HINT = "convert the argument with cast(%x, dtype=...)"


def _type_of(expr: Expr, known: Mapping[Node, Type]) -> Type | None:
    match expr:
        case Constant(data=data):
            return TensorType(tuple(const(size) for size in data.shape), str(data.dtype))
        case PrimValue(value=value):
            return PrimType(dtype_of(value))
        case _:
            return known.get(expr)
