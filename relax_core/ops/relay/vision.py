"""Relay's operators on images and on boxes in them."""

from types import MappingProxyType

from relax_core.ir.prim import AnyDim, IntImm, PrimExpr
from relax_core.ir.types import TensorType, TupleType, Type
from relax_core.ops.relay.convolution import Window, ints_for, padding_of, spatial_of, window_count
from relax_core.ops.relay.dims import calculate, dims_of, stored_axes, whole_axes
from relax_core.ops.relay.rare import best_boxes
from relax_core.ops.relay.spec import AttrDefault, RelayCall, op
from relax_core.ops.spec import REQUIRED


def _resize(call: RelayCall) -> Type:
    data, layout = call.tensor(), call.text("layout")
    dtype = call.dtype("out_dtype") or data.dtype
    if data.dims is None:
        return TensorType(None, dtype)
    sizes = whole_axes(call, data.dims, layout)
    spatial = spatial_of(layout)
    if not call.has("size"):
        return TensorType(stored_axes(call, {**sizes, **{item: AnyDim() for item in spatial}}, layout), dtype)
    sizes.update(zip(spatial, dims_of(*ints_for(call, "size", len(spatial))), strict=True))
    return TensorType(stored_axes(call, sizes, layout), dtype)


def _crop(call: RelayCall) -> Type:
    data, boxes, layout = call.tensor(0), call.dims(1), call.text("layout")
    dtype = call.dtype("out_dtype") or data.dtype
    if data.dims is None or not boxes:
        return TensorType(None, dtype)
    sizes = whole_axes(call, data.dims, layout)
    height, width = ints_for(call, "crop_size", 2)
    sizes.update(N=boxes[0], H=IntImm(height), W=IntImm(width))
    return TensorType(stored_axes(call, sizes, layout), dtype)


def _dilation(call: RelayCall) -> Type:
    data, kernel, layout = call.tensor(0), call.tensor(1), call.text("data_layout")
    if data.dims is None or kernel.dims is None:
        return TensorType(None, data.dtype)
    sizes, window = whole_axes(call, data.dims, layout), whole_axes(call, kernel.dims, call.text("kernel_layout"))
    strides, steps = ints_for(call, "strides", 2), ints_for(call, "dilations", 2)
    for letter, stride, pad, step in zip("HW", strides, padding_of(call, 2), steps, strict=True):
        sizes[letter] = window_count(call, sizes[letter], Window(window[letter], stride, pad, step), letter)
    return TensorType(stored_axes(call, sizes, layout), call.dtype("out_dtype") or data.dtype)


def _affine_grid(call: RelayCall) -> Type:
    data = call.tensor()
    batch = data.dims[0] if data.dims else AnyDim()
    return TensorType((batch, IntImm(2), *dims_of(*ints_for(call, "target_shape", 2))), data.dtype)


def _grid_sample(call: RelayCall) -> Type:
    data, grid = call.tensor(0), call.tensor(1)
    if data.dims is None or grid.dims is None:
        return TensorType(None, data.dtype)
    return TensorType((*data.dims[:2], *grid.dims[2:]), data.dtype)


def _prior(call: RelayCall) -> Type:
    dims, values = call.dims(), call.attrs
    sizes, ratios = values.get("sizes"), values.get("ratios")
    count = sum(len(item) if isinstance(item, tuple) else 1 for item in (sizes, ratios)) - 1
    area: PrimExpr = calculate("*", dims[2], dims[3]) if dims is not None and len(dims) == 4 else AnyDim()
    return TensorType((IntImm(1), calculate("*", area, count), IntImm(4)), call.tensor().dtype)


def _transform(call: RelayCall) -> Type:
    classes = call.dims(0)
    batch, count = (classes[0], classes[2]) if classes is not None and len(classes) == 3 else (AnyDim(), AnyDim())
    return TupleType((TensorType((batch, count, IntImm(6)), call.tensor().dtype), TensorType((batch,), "int32")))


def _valid_counts(call: RelayCall) -> Type:
    data = call.tensor()
    batch, count = data.dims[:2] if data.dims and len(data.dims) > 1 else (AnyDim(), AnyDim())
    return TupleType((TensorType((batch,), "int32"), data, TensorType((batch, count), "int32")))


def _suppression(call: RelayCall) -> Type:
    data = call.tensor()
    if not call.flag("return_indices"):
        return data
    batch, count = data.dims[:2] if data.dims and len(data.dims) > 1 else (AnyDim(), AnyDim())
    return TupleType((TensorType((batch, count), "int32"), TensorType((batch, IntImm(1)), "int32")))


def _all_class(call: RelayCall) -> Type:
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


def _region(call: RelayCall) -> Type:
    data, boxes = call.tensor(0), call.dims(1)
    if data.dims is None or not boxes:
        return TensorType(None, data.dtype)
    layout = call.text("layout")
    sizes = whole_axes(call, data.dims, layout)
    height, width = ints_for(call, "pooled_size", 2)
    sizes.update(N=boxes[0], H=IntImm(height), W=IntImm(width))
    return TensorType(stored_axes(call, sizes, layout), data.dtype)


def _proposal(call: RelayCall) -> Type:
    scores = call.dims()
    batch = scores[0] if scores else AnyDim()
    return TensorType((calculate("*", batch, call.int_("rpn_post_nms_top_n")), IntImm(5)), call.tensor().dtype)


def _reorg(call: RelayCall) -> Type:
    data, stride = call.tensor(), call.int_("stride")
    if data.dims is None or len(data.dims) != 4:
        return TensorType(None, data.dtype)
    batch, channels, height, width = data.dims
    down = (calculate("//", height, stride), calculate("//", width, stride))
    return TensorType((batch, calculate("*", channels, stride * stride), *down), data.dtype)


def _resize_attrs(layout: str) -> dict[str, AttrDefault]:
    return {
        "size": None, "roi": None, "layout": layout, "method": "linear",
        "coordinate_transformation_mode": "half_pixel", "rounding_method": "", "cubic_alpha": -0.5,
        "cubic_exclude": 0, "extrapolation_value": 0.0, "out_dtype": "",
    }  # fmt: skip


_CROP = MappingProxyType(
    {"crop_size": REQUIRED, "layout": "NCHW", "method": "bilinear", "extrapolation_value": 0.0, "out_dtype": ""}
)
_DILATION = MappingProxyType({
    "strides": (1, 1), "padding": (0, 0), "dilations": (1, 1), "data_layout": "NCHW", "kernel_layout": "IHW",
    "out_dtype": "",
})  # fmt: skip
_GRID = MappingProxyType({"method": "bilinear", "layout": "NCHW", "padding_mode": "zeros", "align_corners": True})
_PRIOR = MappingProxyType(
    {"sizes": (1.0,), "ratios": (1.0,), "steps": (-1.0, -1.0), "offsets": (0.5, 0.5), "clip": False}
)
_TRANSFORM = MappingProxyType(
    {"clip": True, "threshold": 0.01, "variances": (0.1, 0.1, 0.2, 0.2), "keep_background": False}
)
_SUPPRESSION = MappingProxyType({
    "force_suppress": False, "top_k": -1, "coord_start": 2, "score_index": 1, "id_index": 0, "return_indices": True,
    "invalid_to_bottom": False, "max_output_size": None, "iou_threshold": None,
})  # fmt: skip
_REGION = MappingProxyType({"pooled_size": REQUIRED, "spatial_scale": REQUIRED, "layout": "NCHW"})

SPECS = (
    op("image.resize1d", "data", _resize, _resize_attrs("NCW"), why="Relax resizes two and three axes"),
    op("image.resize2d", "data", _resize, _resize_attrs("NCHW"), relax="relax.image.resize2d"),
    op("image.resize3d", "data", _resize, _resize_attrs("NCDHW"), relax="relax.image.resize3d"),
    op("image.resize", "data", _resize, _resize_attrs("NCHW"), relax="relax.image.resize2d"),
    op("image.crop_and_resize", "data boxes box_indices", _crop, _CROP, why="pixels taken at computed places"),
    op("image.dilation2d", "data weight", _dilation, _DILATION, why="the maximum of shifted sums"),
    op("image.affine_grid", "data", _affine_grid, {"target_shape": REQUIRED}, relax="relax.image.affine_grid"),
    op("image.grid_sample", "data grid", _grid_sample, _GRID, relax="relax.image.grid_sample"),
    op("vision.multibox_prior", "data", _prior, _PRIOR, why="the boxes themselves, a constant"),
    op("vision.multibox_transform_loc", "cls_prob loc_pred anchor", _transform, _TRANSFORM,
       relax="relax.vision.multibox_transform_loc"),
    op("vision.get_valid_counts", "data score_threshold", _valid_counts,
       {"score_threshold": None, "id_index": 0, "score_index": 1}, relax="relax.vision.get_valid_counts"),
    op("vision.non_max_suppression", "data valid_count indices max_output_size iou_threshold", _suppression,
       _SUPPRESSION, relax="relax.vision.non_max_suppression"),
    op("vision.all_class_non_max_suppression",
       "boxes scores max_output_boxes_per_class iou_threshold score_threshold", _all_class,
       {"output_format": "onnx"}, relax="relax.vision.all_class_non_max_suppression"),
    op("vision.regular_non_max_suppression", "boxes scores", best_boxes,
       {"max_detections_per_class": REQUIRED, "max_detections": REQUIRED, "num_classes": REQUIRED,
        "iou_threshold": REQUIRED, "score_threshold": REQUIRED}, why="Relax suppresses per class or over all boxes"),
    op("vision.roi_align", "data rois", _region, {**_REGION, "sample_ratio": -1, "mode": "avg"},
       relax="relax.vision.roi_align"),
    op("vision.roi_pool", "data rois", _region, _REGION, relax="relax.vision.roi_pool"),
    op("vision.proposal", "cls_prob bbox_pred im_info", _proposal,
       {"scales": (), "ratios": (), "feature_stride": 16, "threshold": 0.7, "rpn_pre_nms_top_n": 6000,
        "rpn_post_nms_top_n": 300, "rpn_min_size": 16, "iou_loss": False}, why="Relax has no region proposal"),
    op("vision.yolo_reorg", "data", _reorg, {"stride": REQUIRED}, why="a reshape and a permutation"),
)  # fmt: skip
