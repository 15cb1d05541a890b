"""Relay's operators on images, and on boxes in them."""

from itertools import product
from types import MappingProxyType

import numpy as np

from relax_core.ir.expr import Expr, TensorType, TupleType, Type, constant
from relax_core.ir.prim import AnyDim, IntImm, PrimExpr
from relax_core.ops.relay.dims import calculate, stored_axes, whole_axes
from relax_core.ops.relay.entry import op
from relax_core.ops.relay.spec import RelayCall
from relax_core.ops.relay.translation import (
    dtype_of,
    number,
    relax,
    size,
    untranslated,
)
from relax_core.ops.spec import REQUIRED

_GRID = MappingProxyType({"method": "bilinear", "layout": "NCHW", "padding_mode": "zeros", "align_corners": True})

_PRIOR = MappingProxyType(
    {"sizes": (1.0,), "ratios": (1.0,), "steps": (-1.0, -1.0), "offsets": (0.5, 0.5), "clip": False}
)

_SUPPRESSION = MappingProxyType({
    "force_suppress": False, "top_k": -1, "coord_start": 2, "score_index": 1, "id_index": 0, "return_indices": True,
    "invalid_to_bottom": False, "max_output_size": None, "iou_threshold": None,
})  # fmt: skip

_REGION = MappingProxyType({"pooled_size": REQUIRED, "spatial_scale": REQUIRED, "layout": "NCHW"})


def _prior_type(call: RelayCall) -> Type:
    dims, values = call.dims(), call.attrs
    sizes, ratios = values.get("sizes"), values.get("ratios")
    count = sum(len(item) if isinstance(item, tuple) else 1 for item in (sizes, ratios)) - 1
    area: PrimExpr = calculate("*", dims[2], dims[3]) if dims is not None and len(dims) == 4 else AnyDim()
    return TensorType((IntImm(1), calculate("*", area, count), IntImm(4)), call.tensor().dtype)


def _suppression_type(call: RelayCall) -> Type:
    data = call.tensor()
    if not call.flag("return_indices"):
        return data
    batch, count = data.dims[:2] if data.dims and len(data.dims) > 1 else (AnyDim(), AnyDim())
    return TupleType((TensorType((batch, count), "int32"), TensorType((batch, IntImm(1)), "int32")))


def _all_class_type(call: RelayCall) -> Type:
    scores = call.dims(1)
    if scores is None or len(scores) != 3:
        raise call.refuse("expects scores of rank 3: batch, class, box")
    batch, classes, boxes = scores
    if call.text("output_format") == "onnx":
        total = calculate("*", calculate("*", batch, classes), boxes)
        return TupleType((TensorType((total, IntImm(3)), "int64"), TensorType((IntImm(1),), "int64")))
    total = calculate("*", classes, boxes)
    fields = (TensorType((batch, total, IntImm(2)), "int64"), TensorType((batch, total), "float32"))
    return TupleType((*fields, TensorType((batch,), "int64")))


def _proposal_type(call: RelayCall) -> Type:
    scores = call.dims()
    batch = scores[0] if scores else AnyDim()
    return TensorType((calculate("*", batch, call.int_("rpn_post_nms_top_n")), IntImm(5)), call.tensor().dtype)


def _both_sides(padding: tuple[int, ...], axis: int) -> int:
    match padding:
        case (every,):
            return 2 * every
        case (height, width):
            return 2 * (height, width)[axis]
        case (top, left, bottom, right):
            return (top + bottom, left + right)[axis]
        case _:
            return 0


def _correlation_type(call: RelayCall) -> Type:
    """Relation: a channel per displacement within `max_displacement`, in steps of `stride2`."""
    data, layout = call.tensor(), call.text("layout")
    if data.dims is None:
        return data
    axes = whole_axes(call, data.dims, layout)
    reach = call.int_("max_displacement")
    border = reach + (call.int_("kernel_size") - 1) // 2
    step = call.positive("stride1")
    axes["C"] = IntImm((2 * (reach // call.positive("stride2")) + 1) ** 2)
    for k, letter in enumerate("HW"):
        inner = calculate("-", calculate("+", axes[letter], _both_sides(call.ints("padding"), k)), 2 * border)
        axes[letter] = calculate("//", calculate("+", inner, step - 1), step)
    return TensorType(stored_axes(call, axes, layout), data.dtype)


def _best_boxes_type(call: RelayCall) -> Type:
    """Relation: boxes, classes, scores and their number, for each image of the batch."""
    boxes, scores = call.tensor(0), call.tensor(1)
    batch = boxes.dims[0] if boxes.dims else AnyDim()
    count = IntImm(call.int_("max_detections"))
    return TupleType((
        TensorType((batch, count, IntImm(4)), boxes.dtype),
        TensorType((batch, count), scores.dtype),
        TensorType((batch, count), scores.dtype),
        TensorType((batch,), scores.dtype),
    ))  # fmt: skip


def _prior(call: RelayCall) -> Expr:
    """Boxes of several sizes and ratios around each place of an image: constants, as the image only says how many.

    See: tvm/python/tvm/topi/vision/ssd/multibox.py, v0.18
    """
    height, width = size(call, 2), size(call, 3)
    sizes, ratios, steps, offsets = (_floats(call, name) for name in ("sizes", "ratios", "steps", "offsets"))
    step_y, step_x = (given if given > 0 else 1 / count for given, count in zip(steps, (height, width), strict=True))
    roots = np.sqrt(ratios[1:])
    half_x = np.array([*sizes, *(sizes[0] * roots)]) * height / width / 2
    half_y = np.array([*sizes, *(sizes[0] / roots)]) / 2
    y, x = np.meshgrid((np.arange(height) + offsets[0]) * step_y, (np.arange(width) + offsets[1]) * step_x,
                       indexing="ij")  # fmt: skip
    x, y = x[..., None], y[..., None]
    boxes = np.stack([x - half_x, y - half_y, x + half_x, y + half_y], axis=-1).reshape(1, -1, 4)
    return constant((np.clip(boxes, 0, 1) if call.flag("clip") else boxes).astype(dtype_of(call)))


def _floats(call: RelayCall, name: str) -> tuple[float, ...]:
    """Return an attribute that is a list of numbers; one number is a list of one."""
    value = call.attrs.get(name)
    items = value if isinstance(value, tuple) else (value,)
    return tuple(float(item) for item in items if isinstance(item, int | float))


def _suppression(call: RelayCall) -> Expr:
    data, counts, indices = call.exprs[:3]
    ints = {name: call.int_(name) for name in ("top_k", "coord_start", "score_index", "id_index")}
    flags = {name: call.flag(name) for name in ("force_suppress", "return_indices", "invalid_to_bottom")}
    limits = (int(number(call, 3)), float(number(call, 4)))
    return relax("vision.non_max_suppression", data, counts, indices, *limits, **ints, **flags)


def _reorg(call: RelayCall) -> Expr:
    """Read the channels as blocks of an image with fewer of them, then the result as that of smaller images.

    See: tvm/include/tvm/topi/vision/reorg.h
    """
    batch, channels, height, width = (size(call, axis) for axis in range(4))
    step = call.int_("stride")
    fewer = channels // (step * step)
    if channels % (step * step) or height % step or width % step:
        raise untranslated(call, f"the stride {step} does not divide the sizes {channels}, {height} and {width}")
    blocks = relax("reshape", call.exprs[0], (batch, fewer, height, step, width, step))
    moved = relax("permute_dims", blocks, (0, 3, 5, 1, 2, 4))
    return relax("reshape", moved, (batch, channels * step * step, height // step, width // step))


def _correlation(call: RelayCall) -> Expr:
    """For each displacement the mean of products, or of distances, over the channels and a window.

    See: tvm/python/tvm/topi/nn/correlation.py
    """
    window, reach = call.int_("kernel_size"), call.int_("max_displacement")
    step, grid_step = call.int_("stride1"), call.int_("stride2")
    if call.text("layout") != "NCHW" or window % 2 == 0:
        raise untranslated(call, "a layout other than NCHW, or a window of an even size")
    padding = call.ints("padding")
    top, left, bottom, right = padding if len(padding) == 4 else (padding * 2)[:2] * 2
    one, other = (relax("nn.pad", item, (0, 0, 0, 0, top, bottom, left, right), "constant", 0.0) for item in call.exprs)
    border = reach + (window - 1) // 2
    sizes = (size(call, 2) + top + bottom, size(call, 3) + left + right)
    spans = tuple((-(-(extent - 2 * border) // step) - 1) * step + window for extent in sizes)
    if any(span + 2 * reach > extent for span, extent in zip(spans, sizes, strict=True)):
        raise untranslated(call, f"a window of {window} in steps of {step} goes over the border")

    def part(image: Expr, offset: tuple[int, int]) -> Expr:
        begin = tuple(reach + item for item in offset)
        return relax("strided_slice", image, (2, 3), begin, tuple(a + b for a, b in zip(begin, spans, strict=True)))

    radius = reach // grid_step
    places = [k * grid_step for k in range(-radius, radius + 1)]
    still = part(one, (0, 0))
    found: list[Expr] = []
    for offset in product(places, places):
        moved = part(other, offset)
        if call.flag("is_multiply"):
            value = relax("multiply", still, moved)
        else:
            value = relax("abs", relax("subtract", still, moved))
        found.append(relax("mean", value, (1,), True))
    return relax("nn.avg_pool2d", relax("concat", tuple(found), 1), (window, window), (step, step))


def _get_valid_counts(call: RelayCall) -> Expr:
    threshold = float(number(call, 1))
    name = "vision.get_valid_counts"
    return relax(name, call.exprs[0], threshold, call.int_("id_index"), call.int_("score_index"))


def _affine_grid(call: RelayCall) -> Expr:
    return relax("image.affine_grid", call.exprs[0], call.ints("target_shape"))


def _reorg_type(call: RelayCall) -> Type:
    data, stride = call.tensor(), call.int_("stride")
    if data.dims is None or len(data.dims) != 4:
        return TensorType(None, data.dtype)
    batch, channels, height, width = data.dims
    down = (calculate("//", height, stride), calculate("//", width, stride))
    return TensorType((batch, calculate("*", channels, stride * stride), *down), data.dtype)


SPECS = (
    op("image.affine_grid", "data", _affine_grid, {"target_shape": REQUIRED}, relax="image.affine_grid"),
    op("image.grid_sample", "data grid", "image.grid_sample", _GRID),
    op("nn.correlation", "data1 data2", _correlation,
       {"kernel_size": 1, "max_displacement": 1, "stride1": 1, "stride2": 1, "padding": (0, 0), "is_multiply": True,
        "layout": "NCHW"}, relation=_correlation_type),
    op("vision.multibox_prior", "data", _prior, _PRIOR, relation=_prior_type),
    op("vision.get_valid_counts", "data score_threshold", _get_valid_counts,
       {"score_threshold": None, "id_index": 0, "score_index": 1}, relax="vision.get_valid_counts"),
    op("vision.non_max_suppression", "data valid_count indices max_output_size iou_threshold", _suppression,
       _SUPPRESSION, relax="vision.non_max_suppression", relation=_suppression_type),
    op("vision.all_class_non_max_suppression",
       "boxes scores max_output_boxes_per_class iou_threshold score_threshold",
       "vision.all_class_non_max_suppression", {"output_format": "onnx"}, relation=_all_class_type),
    op("vision.regular_non_max_suppression", "boxes scores", None,
       {"max_detections_per_class": REQUIRED, "max_detections": REQUIRED, "num_classes": REQUIRED,
        "iou_threshold": REQUIRED, "score_threshold": REQUIRED}, why="Relax suppresses per class or over all boxes",
       relation=_best_boxes_type),
    op("vision.roi_align", "data rois", "vision.roi_align", {**_REGION, "sample_ratio": -1, "mode": "avg"}),
    op("vision.roi_pool", "data rois", "vision.roi_pool", _REGION),
    op("vision.proposal", "cls_prob bbox_pred im_info", None,
       {"scales": (), "ratios": (), "feature_stride": 16, "threshold": 0.7, "rpn_pre_nms_top_n": 6000,
        "rpn_post_nms_top_n": 300, "rpn_min_size": 16, "iou_loss": False}, why="Relax has no region proposal",
       relation=_proposal_type),
    op("vision.yolo_reorg", "data", _reorg, {"stride": REQUIRED}, relation=_reorg_type),
)  # fmt: skip
