"""Object detection: suppressing overlapping boxes, reading regions of interest."""

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from relax_core.ir.expr import Call, Op, TensorType, TupleType, Type
from relax_core.ir.integer.prove import constant_value
from relax_core.ir.prim import const
from relax_core.ops.attributes import flag_at, float_at, integer_tensor_at, require_rank, spread_at, word_at
from relax_core.ops.kernels.scalar import mul, size
from relax_core.ops.layout import parse_layout, require_layout
from relax_core.ops.nn.convolution import spread
from relax_core.ops.operands import call_name, common_dtype, tensor_at
from relax_core.ops.schema import DATA
from relax_core.ops.spec import OpSpec, OpTypeError, Param, Value, realized

_SEE = "tvm/src/relax/op/vision/nms.cc"


Array: TypeAlias = "np.ndarray[Any, Any]"


def overlap(a: Array, b: Array) -> float:
    """Return the area that two boxes share, divided by the area of both; corners are in any order."""
    top, left = np.minimum(a[:2], a[2:]), np.minimum(b[:2], b[2:])
    bottom, right = np.maximum(a[:2], a[2:]), np.maximum(b[:2], b[2:])
    shared = float(np.prod(np.maximum(np.minimum(bottom, right) - np.maximum(top, left), 0)))
    whole = float(np.prod(bottom - top)) + float(np.prod(right - left)) - shared
    return shared / whole if whole > 0 else 0.0


def suppress(args: tuple[Value, ...]) -> Value:
    """Compute `vision.non_max_suppression`: the boxes that stay, in the order of scores, or their indices and number.

    Boxes keep their places in that order, with rows of -1 between them, unless `invalid_to_bottom` moves them up or
    soft suppression changes the order.
    """
    data, counts, names = (np.asarray(item) for item in args[:3])
    limit, top, sigma = int(args[3]), int(args[6]), float(args[12])
    boxes = np.full_like(data, -1)
    indices, total = np.full(data.shape[:2], -1, np.int32), np.zeros((data.shape[0], 1), np.int32)
    for batch, rows in enumerate(data):
        order = np.argsort(-rows[: int(counts[batch]), int(args[8])], kind="stable")
        best = [int(item) for item in (order[:top] if top > 0 else order)]
        kept = _kept(rows.copy(), best.copy(), args)
        kept = kept[:limit] if limit > 0 else kept
        total[batch] = len(kept)
        for place, (row, score) in enumerate(kept):
            at = place if args[11] or args[10] or sigma > 0 else best.index(row)
            boxes[batch, at] = rows[row]
            boxes[batch, at, int(args[8])] = score
            indices[batch, place] = names[batch, row]
    if not args[10]:
        return boxes
    return (boxes, indices, total) if sigma > 0 else (indices, total)


def _kept(rows: Array, left: list[int], args: tuple[Value, ...]) -> list[tuple[int, float]]:
    """Return the rows that stay with their scores, the best first; soft suppression lowers scores on the way."""
    limit, start, score_at, id_at = float(args[4]), int(args[7]), int(args[8]), int(args[9])
    is_forced, sigma, least = bool(args[5]) or id_at < 0, float(args[12]), float(args[13])
    kept: list[tuple[int, float]] = []
    while left:
        best = max(left, key=lambda row: float(rows[row, score_at]))
        left.remove(best)
        if rows[best, score_at] <= least or (id_at >= 0 and rows[best, id_at] < 0):
            continue
        kept.append((best, float(rows[best, score_at])))
        for other in tuple(left):
            if not is_forced and rows[best, id_at] != rows[other, id_at]:
                continue
            shared = overlap(rows[best, start : start + 4], rows[other, start : start + 4])
            if shared >= limit:
                left.remove(other)
            elif sigma > 0:
                rows[other, score_at] *= math.exp(-0.5 * shared * shared / sigma)
    return kept


def suppress_by_class(args: tuple[Value, ...]) -> Value:
    """Compute `vision.all_class_non_max_suppression`: what stays of each image and class, the best first."""
    boxes, scores = np.asarray(args[0]), np.asarray(args[1])
    limit, shared, least = (np.asarray(item).reshape(-1)[0] for item in args[2:5])
    rows = [
        (batch, kind, index)
        for batch in range(scores.shape[0])
        for kind in range(scores.shape[1])
        for index in _best(boxes[batch], scores[batch, kind], int(limit), float(shared), float(least))
    ]
    if args[5] == "onnx":
        return np.reshape(np.asarray(rows, np.int64), (-1, 3)), np.asarray([len(rows)], np.int64)
    room = scores.shape[1] * boxes.shape[1]
    places, values = np.zeros((scores.shape[0], room, 2), np.int64), np.zeros((scores.shape[0], room), np.float32)
    total = np.zeros(scores.shape[0], np.int64)
    for batch, kind, index in rows:
        places[batch, total[batch]], values[batch, total[batch]] = (kind, index), scores[batch, kind, index]
        total[batch] += 1
    return places, values, total


def _best(boxes: Array, scores: Array, limit: int, shared: float, least: float) -> list[int]:
    kept: list[int] = []
    for index in np.argsort(-scores, kind="stable"):
        if len(kept) >= limit or scores[index] <= least:
            break
        if all(overlap(boxes[index], boxes[other]) <= shared for other in kept):
            kept.append(int(index))
    return kept


def align_regions(args: tuple[Value, ...]) -> Value:
    """Compute `vision.roi_align`: the mean, or the greatest, of samples between the pixels of each bin.

    As in TVM, `aligned` lets a region be smaller than a pixel; it does not shift it by half of one.
    """
    layout = parse_layout(Call(Op("relax.vision.roi_align"), ()), args[6], "NCHW")
    data, regions = layout.unpacked(np.asarray(args[0]), "NCHW"), np.asarray(args[1], np.float64)
    pooled, scale = spread(args[2], 2), float(args[3])
    result = np.zeros((len(regions), data.shape[1], *pooled), np.float64)
    for number, (image, *corners) in enumerate(regions):
        left, top, right, bottom = (corner * scale for corner in corners)
        extent = (bottom - top, right - left)
        if not args[5]:
            extent = (max(extent[0], 1.0), max(extent[1], 1.0))
        bins = [extent[k] / pooled[k] for k in (0, 1)]
        count = [int(args[4]) if int(args[4]) > 0 else math.ceil(bins[k]) for k in (0, 1)]
        for at in np.ndindex(*pooled):
            samples = [
                _between(
                    data[int(image)], [(top, left)[k] + bins[k] * (at[k] + (i[k] + 0.5) / count[k]) for k in (0, 1)]
                )
                for i in np.ndindex(*count)
            ]
            taken = np.max if args[7] == "max" else np.mean
            result[(number, slice(None), *at)] = taken(samples, axis=0) if samples else 0
    return layout.packed(result.astype(np.asarray(args[0]).dtype), "NCHW")


def _between(image: Array, place: Sequence[float]) -> Array:
    """Interpolate `image` (channels, height, width) at a place; it is 0 more than a pixel outside."""
    sizes = image.shape[1:]
    if any(not -1 <= place[k] <= sizes[k] for k in (0, 1)):
        return np.zeros(image.shape[0])
    at = [min(max(place[k], 0.0), sizes[k] - 1.0) for k in (0, 1)]
    low = [int(item) for item in at]
    high = [min(low[k] + 1, sizes[k] - 1) for k in (0, 1)]
    y, x = at[0] - low[0], at[1] - low[1]
    upper = image[:, low[0], low[1]] * (1 - x) + image[:, low[0], high[1]] * x
    lower = image[:, high[0], low[1]] * (1 - x) + image[:, high[0], high[1]] * x
    return upper * (1 - y) + lower * y


def pool_regions(args: tuple[Value, ...]) -> Value:
    """Compute `vision.roi_pool`: the greatest pixel of each bin; a bin without pixels is 0."""
    layout = parse_layout(Call(Op("relax.vision.roi_pool"), ()), args[4], "NCHW")
    data, regions = layout.unpacked(np.asarray(args[0]), "NCHW"), np.asarray(args[1])
    pooled, scale = spread(args[2], 2), float(args[3])
    result = np.zeros((len(regions), data.shape[1], *pooled), data.dtype)
    for number, (image, *corners) in enumerate(regions):
        left, top, right, bottom = (math.floor(float(corner) * scale + 0.5) for corner in corners)
        start, extent = (top, left), (max(bottom - top + 1, 1), max(right - left + 1, 1))
        for at in np.ndindex(*pooled):
            first = [start[k] + math.floor(at[k] * extent[k] / pooled[k]) for k in (0, 1)]
            last = [start[k] + math.ceil((at[k] + 1) * extent[k] / pooled[k]) for k in (0, 1)]
            rows, columns = (slice(max(first[k], 0), max(last[k], 0)) for k in (0, 1))
            part = data[int(image), :, rows, columns].reshape(data.shape[1], -1)
            result[(number, slice(None), *at)] = part.max(axis=1) if part.size else 0
    return layout.packed(result, "NCHW")


def transform_boxes(args: tuple[Value, ...]) -> Value:
    """Compute `vision.multibox_transform_loc`: corners (y, x, y, x) from anchors, and scores of classes."""
    classes, places, anchors = (np.asarray(item) for item in args[:3])
    offsets = places.reshape(places.shape[0], -1, 4) * np.asarray(args[5], places.dtype)
    low, high = anchors[..., :2], anchors[..., 2:]
    center = (low + high) / 2 + offsets[..., :2] * (high - low)
    half = np.exp(offsets[..., 2:]) * (high - low) / 2
    boxes = np.concatenate([(center - half)[..., ::-1], (center + half)[..., ::-1]], axis=-1).astype(places.dtype)
    scores = classes
    if args[7]:
        shifted = np.exp(classes - classes.max(axis=1, keepdims=True))
        scores = (shifted / shifted.sum(axis=1, keepdims=True)).astype(classes.dtype)
    scores = np.where(scores >= float(args[4]), scores, 0).astype(classes.dtype)
    if not args[6]:
        scores[:, 0] = 0
    return (np.clip(boxes, 0, 1) if args[3] else boxes), scores


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
