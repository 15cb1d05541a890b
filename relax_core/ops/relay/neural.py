"""Relay's operators of neural networks but the convolutions: products, normalisation, pooling, padding, resizing."""

from dataclasses import replace
from types import MappingProxyType

from relax_core.ir.prim import AnyDim, IntImm, PrimExpr
from relax_core.ir.types import Dims, TensorType, TupleType, Type
from relax_core.ops.relay.convolution import Window, ints_for, padding_of, spatial_of, window_count
from relax_core.ops.relay.dims import (
    broadcast,
    calculate,
    dims_of,
    is_same,
    normal_axis,
    product,
    replaced,
    size,
    stored_axes,
    whole_axes,
)
from relax_core.ops.relay.elementwise import identity
from relax_core.ops.relay.rare import bitpack, correlation, packed_dense, sparse_convolution
from relax_core.ops.relay.show import show_dim, show_type
from relax_core.ops.relay.spec import TUNED, AttrDefault, Expects, RelayCall, op
from relax_core.ops.spec import REQUIRED


def _check_inner(call: RelayCall, a: PrimExpr, b: PrimExpr) -> None:
    if is_same(a, b) is False:
        types = f"{show_type(call.args[0])} and {show_type(call.args[1])}"
        raise call.refuse(f"expects equal inner sizes, got {show_dim(a)} and {show_dim(b)}: {types}")


def _product_dtype(call: RelayCall) -> str | None:
    return call.dtype("out_dtype") or call.tensor(0).dtype


def dense(call: RelayCall) -> Type:
    """Relation: `(*b, k) x (units, k) -> (*b, units)`."""
    data, weight = call.dims(0), call.dims(1)
    if not data or weight is None:
        return TensorType(None, _product_dtype(call))
    if len(weight) != 2:
        raise call.refuse(f"expects a weight of rank 2, got {show_type(call.args[1])}")
    _check_inner(call, data[-1], weight[1])
    units = call.attrs.get("units")
    if isinstance(units, int) and is_same(weight[0], IntImm(units)) is False:
        raise call.refuse(f"has units={units}, but its weight has {show_dim(weight[0])}")
    return TensorType((*data[:-1], weight[0]), _product_dtype(call))


def _dense_weight(call: RelayCall) -> tuple[Type | None, ...]:
    data = call.tensor()
    if not data.dims or not call.has("units"):
        return (None, None)
    return (None, TensorType((IntImm(call.int_("units")), data.dims[-1]), None))


def dense_pack(call: RelayCall) -> Type:
    """Relation: a product with a weight that is stored in tiles of rows."""
    data, weight = call.dims(0), call.dims(1)
    if not data or weight is None or len(weight) != 3:
        return TensorType(None, _product_dtype(call))
    return TensorType((*data[:-1], calculate("*", weight[0], weight[2])), _product_dtype(call))


def matmul(call: RelayCall) -> Type:
    """Relation: `(*b, m, k) x (*c, k, n) -> (*broadcast(b, c), m, n)`, each side transposed if an attribute says so."""
    a, b = call.dims(0), call.dims(1)
    if a is None or b is None:
        return TensorType(None, _product_dtype(call))
    if len(a) < 2 or len(b) < 2:
        raise call.refuse(f"expects rank 2 or more, got {show_type(call.args[0])} and {show_type(call.args[1])}")
    rows, inner = (a[-1], a[-2]) if call.flag("transpose_a") else (a[-2], a[-1])
    other, columns = (b[-1], b[-2]) if call.flag("transpose_b") else (b[-2], b[-1])
    _check_inner(call, inner, other)
    return TensorType((*broadcast(call, a[:-2], b[:-2]), rows, columns), _product_dtype(call))


def _channel(call: RelayCall) -> TensorType:
    """Return the type of a vector with one element per channel."""
    data = call.tensor()
    if data.dims is None:
        return TensorType(None, data.dtype)
    return TensorType((data.dims[normal_axis(call, call.int_("axis"), len(data.dims))],), data.dtype)


def _one_per_channel(count: int, *, has_dtype: bool = True) -> Expects:
    def expects(call: RelayCall) -> tuple[Type | None, ...]:
        channel = _channel(call)
        return (None, *(channel if has_dtype else replace(channel, dtype=None) for _ in range(count)))

    return expects


def _batch_norm(call: RelayCall) -> Type:
    data, channel = call.tensor(), _channel(call)
    return TupleType((data, channel, channel))


def _dropout(call: RelayCall) -> Type:
    return TupleType((call.tensor(), call.tensor()))


def pool(call: RelayCall) -> Type:
    """Relation: windows of `pool_size` over the spatial axes."""
    data, layout = call.tensor(), call.text("layout")
    if data.dims is None:
        return data
    spatial = spatial_of(layout)
    count = len(spatial)
    sizes = whole_axes(call, data.dims, layout)
    window, strides, dilation = (ints_for(call, name, count) for name in ("pool_size", "strides", "dilation"))
    for k, (letter, pad) in enumerate(zip(spatial, padding_of(call, count), strict=True)):
        extra = strides[k] - 1 if call.flag("ceil_mode") else 0
        sizes[letter] = window_count(
            call, sizes[letter], Window(window[k], strides[k], pad, dilation[k], extra), letter
        )
    return TensorType(stored_axes(call, sizes, call.text("out_layout") or layout), data.dtype)


def pool_to(call: RelayCall) -> Type:
    """Relation: pooling to `output_size`, which without that attribute is 1 for each spatial axis or what it was."""
    data, layout = call.tensor(), call.text("layout")
    if data.dims is None:
        return data
    spatial = spatial_of(layout)
    sizes = whole_axes(call, data.dims, layout)
    if call.name.startswith("nn.global"):
        sizes.update(zip(spatial, dims_of(*(1,) * len(spatial)), strict=True))
    elif call.has("output_size"):
        sizes.update(zip(spatial, dims_of(*ints_for(call, "output_size", len(spatial))), strict=True))
    return TensorType(stored_axes(call, sizes, call.text("out_layout") or layout), data.dtype)


def _pad(call: RelayCall) -> Type:
    data, widths = call.tensor(), call.pairs("pad_width")
    if data.dims is None:
        return data
    if len(widths) != len(data.dims):
        raise call.refuse(f"expects {len(data.dims)} pairs as `pad_width`, got {len(widths)}")
    dims = tuple(calculate("+", dim, sum(pair)) for dim, pair in zip(data.dims, widths, strict=True))
    return TensorType(dims, data.dtype)


def _scaled(dim: PrimExpr, factor: float) -> PrimExpr:
    number = size(dim)
    return AnyDim() if number is None else IntImm(round(number * factor))


def _upsampling(call: RelayCall) -> Type:
    data, layout = call.tensor(), call.text("layout")
    if data.dims is None:
        return data
    sizes = whole_axes(call, data.dims, layout)
    for letter in spatial_of(layout):
        sizes[letter] = _scaled(sizes[letter], call.number(f"scale_{letter.lower()}"))
    return TensorType(stored_axes(call, sizes, layout), data.dtype)


def _batch_flatten(call: RelayCall) -> Type:
    data = call.tensor()
    return data if not data.dims else TensorType((data.dims[0], product(data.dims[1:])), data.dtype)


def _blocks(call: RelayCall) -> Type:
    data, layout, block = call.tensor(), call.text("layout"), call.int_("block_size")
    if data.dims is None:
        return data
    sizes = whole_axes(call, data.dims, layout)
    is_deeper = call.name == "nn.space_to_depth"
    sizes["C"] = calculate("*" if is_deeper else "//", sizes["C"], block * block)
    for letter in "HW":
        sizes[letter] = calculate("//" if is_deeper else "*", sizes[letter], block)
    return TensorType(stored_axes(call, sizes, layout), data.dtype)


def _batch_blocks(call: RelayCall) -> Type:
    data, blocks = call.tensor(), call.ints("block_shape")
    if data.dims is None:
        return data
    is_more = call.name == "nn.space_to_batch_nd"
    widths = call.pairs("paddings" if is_more else "crops")
    dims: Dims = data.dims
    for k, (block, pair) in enumerate(zip(blocks, widths, strict=False), 1):
        grown = calculate("+", dims[k], sum(pair)) if is_more else calculate("*", dims[k], block)
        dims = replaced(dims, k, calculate("//", grown, block) if is_more else calculate("-", grown, sum(pair)))
        dims = replaced(dims, 0, calculate("*" if is_more else "//", dims[0], block))
    return TensorType(dims, data.dtype)


def _sparse_dense(call: RelayCall) -> Type:
    """Relation: `(n, k)` with a sparse `(m, k)` weight is `(n, m)`; blocks of `bs` rows make m larger."""
    data, values, starts = call.tensor(0), call.tensor(1), call.tensor(3)
    if values.dims is None or not starts.dims or not data.dims:
        return TensorType(None, data.dtype)
    rows = calculate("-", starts.dims[0], 1)
    count = rows if len(values.dims) == 1 else calculate("*", rows, values.dims[1])
    pair = (count, data.dims[1]) if call.flag("sparse_lhs") else (data.dims[0], count)
    return TensorType(pair, data.dtype)


def _like_second(call: RelayCall) -> Type:
    return call.tensor(1)


def _pool_attrs(layout: str, *more: str) -> dict[str, AttrDefault]:
    count = len(layout) - 2
    attrs: dict[str, AttrDefault] = {
        "pool_size": REQUIRED, "strides": (1,) * count, "dilation": (1,) * count, "padding": (0,) * count,
        "layout": layout, "out_layout": "", "ceil_mode": False,
    }  # fmt: skip
    return {**attrs, **dict.fromkeys(more, False)}


_LAYOUTS = (("1d", "NCW"), ("2d", "NCHW"), ("3d", "NCDHW"))
_PRODUCT = MappingProxyType({"units": None, "out_dtype": "", "transpose_a": False, "transpose_b": False, **TUNED})
_BATCH = MappingProxyType({"out_dtype": "", "transpose_a": False, "transpose_b": True, **TUNED})
_NORM = MappingProxyType({"epsilon": 1e-05, "center": True, "scale": True})
_SPARSE = "a dense matrix with the entries written into it"
_PADDED = "a dense product, with a weight whose rows are filled up with zeros"

SPECS = (
    op("nn.dense", "data weight", dense, {"units": None, "out_dtype": "", **TUNED},
       relax="relax.linear", expects=_dense_weight),
    op("nn.matmul", "tensor_a tensor_b", matmul, _PRODUCT, relax="relax.matmul"),
    op("nn.batch_matmul", "tensor_a tensor_b", matmul, _BATCH, relax="relax.matmul"),
    op("nn.contrib_dense_pack", "data weight", dense_pack,
       {"units": None, "out_dtype": "", "weight_layout": "NC"}, relax="relax.matmul"),
    op("nn.bias_add", "data bias", identity, {"axis": 1}, relax="relax.add", expects=_one_per_channel(1)),
    op("nn.prelu", "data alpha", identity, {"axis": 1}, relax="relax.nn.prelu", expects=_one_per_channel(1)),
    op("nn.batch_norm", "data gamma beta moving_mean moving_var", _batch_norm, {"axis": 1, **_NORM},
       relax="relax.nn.batch_norm", expects=_one_per_channel(4, has_dtype=False)),
    op("nn.layer_norm", "data gamma beta", identity, {"axis": -1, **_NORM}, relax="relax.nn.layer_norm",
       expects=_one_per_channel(2)),
    op("nn.instance_norm", "data gamma beta", identity, {"axis": 1, **_NORM}, relax="relax.nn.instance_norm",
       expects=_one_per_channel(2)),
    op("nn.group_norm", "data gamma beta", identity, {"num_groups": REQUIRED, "axis": 1, **_NORM},
       relax="relax.nn.group_norm", expects=_one_per_channel(2)),
    op("nn.dropout", "data", _dropout, {"rate": 0.5}, relax="relax.nn.dropout"),
    *(op(f"nn.max_pool{k}", "data", pool, _pool_attrs(layout), relax=f"relax.nn.max_pool{k}")
      for k, layout in _LAYOUTS),
    *(op(f"nn.avg_pool{k}", "data", pool, _pool_attrs(layout, "count_include_pad"), relax=f"relax.nn.avg_pool{k}")
      for k, layout in _LAYOUTS),
    *(op(f"nn.global_{how}_pool{k}", "data", pool_to, {"layout": layout, "out_layout": ""},
         why="the maximum or mean over the spatial axes") for how in ("max", "avg") for k, layout in _LAYOUTS),
    *(op(f"nn.adaptive_avg_pool{k}", "data", pool_to, {"output_size": (), "layout": layout, "out_layout": ""},
         relax=f"relax.nn.adaptive_avg_pool{k}") for k, layout in _LAYOUTS),
    *(op(f"nn.adaptive_max_pool{k}", "data", pool_to, {"output_size": (), "layout": layout, "out_layout": ""},
         why="Relax has adaptive pooling for means only") for k, layout in _LAYOUTS),
    *(op(f"contrib.adaptive_{how}_pool2d", "data", pool_to, {"output_size": (), "layout": "NCHW", "out_layout": ""},
         why=f"the old name of nn.adaptive_{how}_pool2d") for how in ("avg", "max")),
    op("nn.max_pool2d_grad", "out_grad data", _like_second, _pool_attrs("NCHW"),
       relax="relax.grad.max_pool2d_backward"),
    op("nn.avg_pool2d_grad", "out_grad data", _like_second, _pool_attrs("NCHW", "count_include_pad"),
       relax="relax.grad.avg_pool2d_backward"),
    op("nn.pad", "data pad_value?", _pad, {"pad_width": REQUIRED, "pad_mode": "constant", "pad_value": 0.0},
       relax="relax.nn.pad"),
    op("nn.mirror_pad", "data", _pad, {"pad_width": REQUIRED, "mode": "SYMMETRIC"}, relax="relax.nn.pad"),
    op("nn.upsampling", "data", _upsampling,
       {"scale_h": 1.0, "scale_w": 1.0, "layout": "NCHW", "method": "nearest_neighbor", "align_corners": False},
       relax="relax.image.resize2d"),
    op("nn.upsampling3d", "data", _upsampling,
       {"scale_d": 1.0, "scale_h": 1.0, "scale_w": 1.0, "layout": "NCDHW", "method": "nearest_neighbor",
        "coordinate_transformation_mode": "half_pixel"}, relax="relax.image.resize3d"),
    op("nn.batch_flatten", "data", _batch_flatten, relax="relax.nn.batch_flatten"),
    op("nn.depth_to_space", "data", _blocks, {"block_size": REQUIRED, "layout": "NCHW", "mode": "DCR"},
       relax="relax.nn.pixel_shuffle"),
    op("nn.space_to_depth", "data", _blocks, {"block_size": REQUIRED, "layout": "NCHW", "mode": "DCR"},
       why="a reshape and a permutation"),
    op("nn.space_to_batch_nd", "data", _batch_blocks,
       {"block_shape": REQUIRED, "paddings": REQUIRED, "pad_value": 0.0}, why="a reshape and a permutation"),
    op("nn.batch_to_space_nd", "data", _batch_blocks, {"block_shape": REQUIRED, "crops": REQUIRED},
       why="a reshape and a permutation"),
    op("nn.sparse_dense", "data weight_data weight_indices weight_indptr", _sparse_dense, {"sparse_lhs": False},
       why=_SPARSE),
    op("nn.internal.sparse_dense_padded", "data weight_data weight_indices weight_indptr", _sparse_dense,
       {"sparse_lhs": False}, why=_PADDED),
    op("nn.sparse_transpose", "sparse_data sparse_indices sparse_indptr",
       lambda call: TupleType((call.tensor(0), call.tensor(1), call.tensor(2))),
       why="the entries sorted by their columns"),
    op("nn.sparse_add", "dense_data sparse_data sparse_indices sparse_indptr", identity, why=_SPARSE),
    op("nn.sparse_conv2d", "data weight_data weight_indices weight_indptr", sparse_convolution,
       {"layout": "NHWC", "kernel_size": (1, 1)}, why=_SPARSE),
    op("nn.bitserial_dense", "data weight", packed_dense,
       {"units": None, "data_bits": 1, "weight_bits": 1, "pack_dtype": "uint32", "out_dtype": "int16",
        "unipolar": True}, why="sums and shifts of the bits"),
    op("nn.bitpack", "data", bitpack, {"bits": 1, "pack_axis": 1, "bit_axis": 2, "pack_type": "uint32",
       "name": "BitPack"}, why="sums and shifts of the bits"),
    op("nn.correlation", "data1 data2", correlation,
       {"kernel_size": 1, "max_displacement": 1, "stride1": 1, "stride2": 1, "padding": (0, 0),
        "is_multiply": True, "layout": "NCHW"}, why="means of the products with shifted images"),
)  # fmt: skip
