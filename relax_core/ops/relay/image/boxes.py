"""Boxes that a network predicts, moved to the front by a stable order."""

from types import MappingProxyType

from relax_core.ir.expr import Expr, TensorType, Tuple, TupleType, Type
from relax_core.ir.prim import AnyDim, IntImm
from relax_core.ops.relay.entry import op
from relax_core.ops.relay.spec import RelayCall
from relax_core.ops.relay.translation import cast, dtype_of, relax, scalar, size, untranslated

_TRANSFORM = MappingProxyType(
    {"clip": True, "threshold": 0.01, "variances": (0.1, 0.1, 0.2, 0.2), "keep_background": False}
)

_ALL = 2**62


def _transformed_type(call: RelayCall) -> Type:
    classes = call.dims(0)
    batch, count = (classes[0], classes[2]) if classes is not None and len(classes) == 3 else (AnyDim(), AnyDim())
    return TupleType((TensorType((batch, count, IntImm(6)), call.tensor().dtype), TensorType((batch,), "int32")))


def _transformed(call: RelayCall) -> Expr:
    """The best class of each anchor but the background, and the anchor moved and scaled by what is predicted.

    Rows `[class, probability, left, top, right, bottom]` of those above the threshold are in front; others are -1.

    See: Liu and others, SSD: single shot multibox detector, 2016, section 2.2
    """
    if call.flag("keep_background"):
        raise untranslated(call, "keep_background=True, with which the background has a box")
    classes, places, anchors = call.exprs
    dtype, count = dtype_of(call), size(call, 2)
    others = relax("strided_slice", classes, (1,), (1,), (_ALL,))
    best = relax("max", others, (1,))
    kind = cast(relax("argmax", others, 1), dtype)
    is_kept = relax("greater_equal", best, scalar(call.number("threshold"), dtype))
    boxes = _boxes(call, relax("reshape", places, (-1, count, 4)), anchors)
    rows = relax("concat", (relax("stack", (kind, best), 2), boxes), 2)
    order = relax("argsort", cast(relax("logical_not", is_kept), "int32"), 1, False, "int64")
    every = relax("concat", (relax("expand_dims", order, (2,)),) * 6, 2)
    in_front = relax("gather_elements", rows, every, 1)
    is_there = relax("gather_elements", cast(is_kept, "int32"), order, 1)
    shown = relax("where", relax("expand_dims", relax("greater", is_there, scalar(0, "int32")), (2,)), in_front,
                  scalar(-1, dtype))  # fmt: skip
    return Tuple((shown, relax("sum", cast(is_kept, "int32"), (1,))))


def _boxes(call: RelayCall, places: Expr, anchors: Expr) -> Expr:
    dtype = dtype_of(call)
    variances = call.attrs.get("variances")
    factors = (
        tuple(float(item) for item in variances if isinstance(item, int | float))
        if isinstance(variances, tuple)
        else ()
    )
    if len(factors) != 4:
        raise untranslated(call, f"{len(factors)} variances, not 4")
    ends: list[tuple[Expr, Expr]] = []
    for axis in range(2):
        low, high = (_column(anchors, axis + k) for k in (0, 2))
        extent = relax("subtract", high, low)
        center = relax("divide", relax("add", low, high), scalar(2, dtype))
        moved = relax("multiply", relax("multiply", _column(places, axis), scalar(factors[axis], dtype)), extent)
        grown = relax("exp", relax("multiply", _column(places, axis + 2), scalar(factors[axis + 2], dtype)))
        half = relax("divide", relax("multiply", grown, extent), scalar(2, dtype))
        middle = relax("add", moved, center)
        ends.append((relax("subtract", middle, half), relax("add", middle, half)))
    boxes = relax("concat", (ends[0][0], ends[1][0], ends[0][1], ends[1][1]), 2)
    return relax("clip", boxes, 0.0, 1.0) if call.flag("clip") else boxes


def _column(values: Expr, place: int) -> Expr:
    return relax("strided_slice", values, (2,), (place,), (place + 1,))


SPECS = (
    op("vision.multibox_transform_loc", "cls_prob loc_pred anchor", _transformed, _TRANSFORM,
       relax="vision.multibox_transform_loc", relation=_transformed_type),
)  # fmt: skip
