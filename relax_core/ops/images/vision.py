"""Object detection: suppressing overlapping boxes, reading regions of interest."""

from typing import Any, TypeAlias

import numpy as np

from relax_core.ir.expr import Call, TensorType, TupleType, Type
from relax_core.ir.integer.prove import constant_value
from relax_core.ir.prim import const
from relax_core.ops.attributes import flag_at, float_at, integer_tensor_at, require_rank, spread_at, word_at
from relax_core.ops.images.vision_values import (
    align_regions,
    pool_regions,
    suppress,
    suppress_by_class,
    transform_boxes,
)
from relax_core.ops.kernels.scalar import mul, size
from relax_core.ops.layout import parse_layout, require_layout
from relax_core.ops.operands import call_name, common_dtype, tensor_at
from relax_core.ops.schema import DATA
from relax_core.ops.spec import OpSpec, OpTypeError, Param, Value, realized

Array: TypeAlias = "np.ndarray[Any, Any]"

_SEE = "tvm/src/relax/op/vision/nms.cc"


def _number(name: str, default: float) -> Param:
    return Param(name, "prim", "float64", default=default)


def _integer(name: str, default: int) -> Param:
    return Param(name, "prim", "int64", default=default)


def _flag(name: str, *, default: bool) -> Param:
    return Param(name, "prim", "bool", default=default)


def _infer_valid_counts(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer `(b, n, e)` as the counts `(b,)`, the boxes that count in front, and their indices `(b, n)`."""
    data = tensor_at(call, arg_types)
    require_rank(call, data, 3, "boxes")
    float_at(call, arg_types, 1)
    batch = None if data.dims is None else data.dims[:1]
    return TupleType(
        (
            TensorType(batch, "int32", 1),
            TensorType(data.shape, data.dtype, 3),
            TensorType(None if data.dims is None else data.dims[:2], "int32", 2),
        )
    )


def _evaluate_valid_counts(args: tuple[Value, ...]) -> Value:
    data, threshold, id_index, score_index = np.asarray(args[0]), float(args[1]), int(args[2]), int(args[3])
    counts = np.zeros(data.shape[0], np.int32)
    boxes, indices = np.full_like(data, -1), np.full(data.shape[:2], -1, np.int32)
    for batch, rows in enumerate(data):
        is_valid = rows[:, score_index] > threshold
        if id_index >= 0:
            is_valid &= rows[:, id_index] >= 0
        found = np.nonzero(is_valid)[0]
        counts[batch] = len(found)
        boxes[batch, : len(found)], indices[batch, : len(found)] = rows[found], found
    return counts, boxes, indices


def _infer_nms(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the indices of the boxes that stay and their number, or the boxes; soft suppression gives all of them."""
    data = tensor_at(call, arg_types, 0)
    require_rank(call, data, 3, "boxes")
    require_rank(call, integer_tensor_at(call, arg_types, 1), 1, "counts")
    require_rank(call, integer_tensor_at(call, arg_types, 2), 2, "indices")
    boxes = TensorType(data.shape, data.dtype, 3)
    if not flag_at(call, arg_types, 10):
        return boxes
    dims = data.dims
    indices = TensorType(None if dims is None else dims[:2], "int32", 2)
    count = TensorType(None if dims is None else (dims[0], const(1)), "int32", 2)
    return TupleType((boxes, indices, count) if float_at(call, arg_types, 12) > 0 else (indices, count))


def _infer_all_class(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the triples of batch, class and box that stay, and their number; or pairs, scores and numbers per batch."""
    boxes, scores = tensor_at(call, arg_types, 0), tensor_at(call, arg_types, 1)
    common_dtype(call, (boxes, scores))
    require_rank(call, boxes, 3, "boxes")
    require_rank(call, scores, 3, "scores")
    layout = word_at(call, arg_types, 5, ("onnx", "tensorflow"))
    if scores.dims is None or boxes.dims is None:
        rank = 2 if layout == "onnx" else 3
        rest = (TensorType(None, scores.dtype, 2),) if layout != "onnx" else ()
        return TupleType((TensorType(None, "int64", rank), *rest, TensorType(None, "int64", 1)))
    batch, classes, count = scores.dims[0], scores.dims[1], boxes.dims[1]
    if layout == "onnx":
        # The rows are those that stay, and only the run knows how many these are.
        return TupleType((TensorType(None, "int64", 2), TensorType((const(1),), "int64")))
    total = size(mul(classes, count))
    return TupleType(
        (
            TensorType((batch, total, const(2)), "int64"),
            TensorType((batch, total), "float32"),
            TensorType((batch,), "int64"),
        )
    )


def _infer_roi(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer `(r, c, *pooled_size)` in the layout of the data."""
    data, rois = tensor_at(call, arg_types, 0), tensor_at(call, arg_types, 1)
    is_align = call_name(call).endswith("align")
    require_rank(call, rois, 2, "regions")
    pooled = spread_at(call, arg_types, 2, 2)
    layout = parse_layout(call, word_at(call, arg_types, 6 if is_align else 4), "NCHW")
    if is_align:
        word_at(call, arg_types, 7, ("avg", "max"))
    require_layout(call, data, layout, "data")
    if rois.dims is not None and constant_value(rois.dims[1]) not in (None, 5):
        raise OpTypeError("TY037", f"{call_name(call)} expects regions of 5 numbers: the image, and two corners")
    if data.dims is None or rois.dims is None:
        return TensorType(None, data.dtype, 4)
    extents = {"N": rois.dims[0], "C": layout.extent(data.dims, "C"), "H": const(pooled[0]), "W": const(pooled[1])}
    return TensorType(layout.shape(extents), data.dtype)


def _infer_multibox(call: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer the boxes `(b, n, 4)` and the scores of the classes `(b, c, n)`."""
    classes, places, anchors = (tensor_at(call, arg_types, k) for k in range(3))
    dtype = common_dtype(call, (classes, places, anchors))
    for item, rank in ((classes, 3), (places, 2), (anchors, 3)):
        require_rank(call, item, rank, "an operand")
    flag_at(call, arg_types, 3)
    if classes.dims is None:
        return TupleType((TensorType(None, dtype, 3), TensorType(None, dtype, 3)))
    batch, kinds, count = classes.dims
    return TupleType((TensorType((batch, count, const(4)), dtype), TensorType((batch, kinds, count), dtype)))


_ROI = (
    DATA,
    Param("rois", "tensor"),
    Param("pooled_size", "axes"),
    Param("spatial_scale", "prim", "float64"),
)
_LAYOUT = Param("layout", "prim", "string", default="NCHW")

SPECS = realized(
    "evaluation",
    "Which elements it reads depends on the values, so the machine computes it.",
    OpSpec("relax.vision.get_valid_counts",
           (DATA, _number("score_threshold", 0.0), _integer("id_index", 0), _integer("score_index", 1)),
           _infer_valid_counts, "Move the boxes with a score above a threshold to the front.",
           evaluate=_evaluate_valid_counts, see=_SEE),
    OpSpec("relax.vision.non_max_suppression",
           (DATA, Param("valid_count", "tensor"), Param("indices", "tensor"), _integer("max_output_size", -1),
            _number("iou_threshold", 0.5), _flag("force_suppress", default=False), _integer("top_k", -1),
            _integer("coord_start", 2), _integer("score_index", 1), _integer("id_index", 0),
            _flag("return_indices", default=True), _flag("invalid_to_bottom", default=False),
            _number("soft_nms_sigma", 0.0), _number("score_threshold", 0.0)),
           _infer_nms, "Keep of boxes that overlap the best.", evaluate=suppress, see=_SEE),
    OpSpec("relax.vision.all_class_non_max_suppression",
           (Param("boxes", "tensor"), Param("scores", "tensor"), Param("max_output_boxes_per_class", "tensor"),
            Param("iou_threshold", "tensor"), Param("score_threshold", "tensor"),
            Param("output_format", "prim", "string", default="onnx")),
           _infer_all_class, "Keep of boxes that overlap the best, for each class.", evaluate=suppress_by_class,
           see=_SEE),
    OpSpec("relax.vision.roi_align",
           (*_ROI, _integer("sample_ratio", -1), _flag("aligned", default=False), _LAYOUT,
            Param("mode", "prim", "string", default="avg")),
           _infer_roi, "Sample regions of interest by interpolation.", evaluate=align_regions,
           see="tvm/src/relax/op/vision/roi_align.cc"),
    OpSpec("relax.vision.roi_pool", (*_ROI, _LAYOUT), _infer_roi, "The greatest elements of regions of interest.",
           evaluate=pool_regions,
           see="tvm/src/relax/op/vision/roi_pool.cc"),
    OpSpec("relax.vision.multibox_transform_loc",
           (Param("cls_pred", "tensor"), Param("loc_pred", "tensor"), Param("anchor", "tensor"),
            _flag("clip", default=False), _number("threshold", 0.0),
            Param("variances", "axes", default=(1.0, 1.0, 1.0, 1.0)), _flag("keep_background", default=True),
            _flag("apply_softmax", default=True)),
           _infer_multibox, "Boxes from anchors and predicted offsets.", evaluate=transform_boxes,
           see="tvm/src/relax/op/vision/multibox_transform_loc.cc"),
)  # fmt: skip
