"""Relay's convolutions, in any layout, with padding, strides, dilation and groups."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from relax_core.ir.expr import Expr, TensorType, Type
from relax_core.ir.prim import PrimExpr
from relax_core.ops.relay.derive import derived, derived_product
from relax_core.ops.relay.dims import (
    calculate,
    dims_of,
    is_same,
    known_size,
    layout_parts,
    stored_axes,
    whole_axes,
)
from relax_core.ops.relay.entry import op
from relax_core.ops.relay.show import show_dim, show_dims
from relax_core.ops.relay.spec import TUNED, AttrDefault, Expects, RelayCall
from relax_core.ops.relay.translation import (
    alike,
    relax,
    size,
    untranslated,
)

_SPATIAL = ("W", "HW", "DHW")


def spatial_of(layout: str) -> str:
    """Return the letters of a data layout that are neither the batch nor the channels."""
    return "".join(letter for letter, _ in layout_parts(layout) if letter.isupper() and letter not in "NC")


def ints_for(call: RelayCall, name: str, count: int) -> tuple[int, ...]:
    """Return an attribute with one integer per spatial axis; one integer stands for all."""
    values = call.ints(name)
    if len(values) == 1:
        values = values * count
    if len(values) != count or (
        min(values, default=1) < 1 and name in ("strides", "dilation", "pool_size", "kernel_size")
    ):
        raise call.refuse(f"expects {count} positive integers as `{name}`, got {list(values)}", code="RY010")
    return values


def padding_of(call: RelayCall, count: int) -> tuple[tuple[int, int], ...]:
    """Return what is padded before and after each spatial axis; `(all)`, `(each, ...)` or `(before..., after...)`."""
    values = call.ints("padding")
    if len(values) == 1:
        values = values * (2 * count)
    elif len(values) == count:
        values = values * 2
    if len(values) != 2 * count:
        raise call.refuse(f"expects 1, {count} or {2 * count} integers as `padding`, got {list(values)}", code="RY010")
    return tuple(zip(values[:count], values[count:], strict=True))


@dataclass(frozen=True, slots=True)
class Window:
    """How a window moves along an axis; `extra` is what rounding up leaves it to reach behind the padding."""

    width: PrimExpr | int
    stride: int
    padding: tuple[int, int] = (0, 0)
    dilation: int = 1
    extra: int = 0


def window_count(call: RelayCall, dim: PrimExpr, window: Window, letter: str) -> PrimExpr:
    """Return how many windows fit: `(dim + padding - reach) // stride + 1`.

    Raises:
        OpTypeError: RY009 if not even one does.
    """
    reach = _reach(window.width, window.dilation)
    total = calculate("-", calculate("+", dim, sum(window.padding) + window.extra), reach)
    if (known_size(total) or 0) < 0:
        raise call.refuse(f"has a window that is larger than its padded input along {letter}")
    return calculate("+", calculate("//", total, window.stride), 1)


def _reach(kernel: PrimExpr | int, dilation: int) -> PrimExpr:
    width = dims_of(kernel)[0] if isinstance(kernel, int) else kernel
    return calculate("+", calculate("*", calculate("-", width, 1), dilation), 1)


def _kernel_axes(call: RelayCall, layout: str, *, is_wide: bool) -> dict[str, PrimExpr]:
    """Return the kernel's sizes by letter, from `channels` and `kernel_size`."""
    spatial = "".join(letter for letter, _ in layout_parts(layout) if letter.isupper() and letter not in "OI")
    sizes: dict[str, PrimExpr] = dict(zip(spatial, dims_of(*ints_for(call, "kernel_size", len(spatial))), strict=True))
    channels = call.int_("channels")
    return {**sizes, "O": dims_of(channels // call.int_("groups") if is_wide else channels)[0]}


def _expected_weight(*, is_transposed: bool) -> Expects:
    def expects(call: RelayCall) -> tuple[Type | None, ...]:
        data = call.tensor(0)
        layout = call.text("kernel_layout")
        if data.dims is None or not call.has("channels") or not call.has("kernel_size") or call.int_("groups") != 1:
            return (None, None)
        sizes = _kernel_axes(call, layout, is_wide=is_transposed)
        sizes["I"] = whole_axes(call, data.dims, call.text("data_layout"))["C"]
        return (None, TensorType(stored_axes(call, sizes, layout), None))

    return expects


def plain_type(call: RelayCall) -> Type:
    """Relation: a convolution whose weight is laid out in its own way, so that the attributes say how large it is."""
    data, spatial = call.tensor(), spatial_of(call.text("data_layout"))
    if data.dims is None:
        return TensorType(None, call.dtype("out_dtype") or data.dtype)
    check_windows(call)
    attrs = {"groups": 1, **call.attrs, "kernel_layout": f"OI{spatial}"}
    _, weight = _expected_weight(is_transposed=False)(replace(call, attrs=attrs))
    if not isinstance(weight, TensorType):
        raise call.refuse("needs `channels` and `kernel_size`, for its weight does not say them", code="RY010")
    return derived(alike(f"nn.conv{len(spatial)}d"))(
        replace(call, args=(data, replace(weight, dtype=data.dtype)), attrs=attrs, exprs=())
    )


def check_windows(call: RelayCall) -> None:
    """Refuse strides, dilations and windows that are not positive, or not as many as there are spatial axes."""
    count = len(spatial_of(call.text("data_layout") or call.text("layout")))
    for name in ("strides", "dilation", "pool_size"):
        if name in call.attrs:
            ints_for(call, name, count)


def check_weight(call: RelayCall) -> None:
    """Compare the weight with the attributes that say what it is, and look at these."""
    check_windows(call)
    data, weight = call.dims(0), call.dims(1)
    if data is not None and weight is not None:
        layout = call.text("data_layout")
        kernel = whole_axes(call, weight, call.text("kernel_layout"))
        _check_kernel(call, whole_axes(call, data, layout), kernel, spatial_of(layout))


def _check_kernel(call: RelayCall, data: Mapping[str, PrimExpr], kernel: Mapping[str, PrimExpr], spatial: str) -> None:
    groups = call.int_("groups")
    if call.has("kernel_size"):
        wanted = ints_for(call, "kernel_size", len(spatial))
        for letter, number in zip(spatial, wanted, strict=True):
            if is_same(kernel[letter], dims_of(number)[0]) is False:
                found = tuple(kernel[item] for item in spatial)
                raise call.refuse(f"has kernel_size {list(wanted)}, but its weight has {show_dims(found)}")
    if "I" in kernel and is_same(calculate("//", data["C"], groups), kernel["I"]) is False:
        raise call.refuse(
            f"expects {show_dim(data['C'])} / {groups} input channels in its weight, got {show_dim(kernel['I'])}",
            "the input channels of the data, divided by `groups`, are those of the weight",
        )
    channels = call.attrs.get("channels")
    if isinstance(channels, int) and known_size(kernel["O"]) not in (None, channels):
        raise call.refuse(f"has channels={channels}, but its weight has {show_dim(kernel['O'])}")


def _attrs(count: int, kernel: str) -> dict[str, AttrDefault]:
    spatial = _SPATIAL[count - 1]
    return {
        "strides": (1,) * count, "padding": (0,) * count, "dilation": (1,) * count, "groups": 1, "channels": None,
        "kernel_size": None, "data_layout": f"NC{spatial}", "kernel_layout": kernel + spatial, "out_layout": "",
        "out_dtype": "", **TUNED,
    }  # fmt: skip


def convolution_attrs(count: int) -> dict[str, AttrDefault]:
    """Return the attributes of a convolution over `count` spatial axes."""
    return _attrs(count, "OI")


def _tiles(dim: PrimExpr, tile: int) -> PrimExpr:
    return calculate("//", calculate("+", dim, tile - 1), tile)


def _gemm_weight_type(call: RelayCall) -> Type:
    """Relation: `(h, w, i, o)` becomes `(tiles of o, tiles of h * w * i, tile_N, tile_K)`."""
    weight = call.tensor()
    rows, columns = call.int_("tile_N"), call.int_("tile_K")
    if weight.dims is None or len(weight.dims) != 4 or rows < 1 or columns < 1:
        return TensorType(None, weight.dtype)
    height, width, inner, out = weight.dims
    whole = calculate("*", calculate("*", height, width), inner)
    return TensorType((_tiles(out, rows), _tiles(whole, columns), *dims_of(rows, columns)), weight.dtype)


def _gemm_weight(call: RelayCall) -> Expr:
    """Lay out the weight `(h, w, i, o)`, a matrix with a column for each `o`, in tiles of its transpose."""
    tall, wide = call.int_("tile_N"), call.int_("tile_K")
    outs, inner = size(call, 3), size(call, 0) * size(call, 1) * size(call, 2)
    if min(tall, wide) < 1:
        raise untranslated(call, f"tiles of {tall} by {wide}")
    flat = relax("permute_dims", relax("reshape", call.exprs[0], (inner, outs)))
    padded = relax("nn.pad", flat, (0, -outs % tall, 0, -inner % wide), "constant", 0.0)
    tiles = relax("reshape", padded, (-(-outs // tall), tall, -(-inner // wide), wide))
    return relax("permute_dims", tiles, (0, 2, 1, 3))


def _gemm_convolution(call: RelayCall) -> Expr:
    """Take the weight out of its tiles again, and convolve with it."""
    if call.text("data_layout") != "NHWC" or call.int_("groups") != 1:
        raise untranslated(call, "groups, or a layout other than NHWC")
    (height, width), outs, inner = call.ints("kernel_size"), call.int_("channels"), size(call, 3)
    rows, columns, tall, wide = (size(call, axis, 1) for axis in range(4))
    whole = relax("reshape", relax("permute_dims", call.exprs[1], (0, 2, 1, 3)), (rows * tall, columns * wide))
    kept = relax("strided_slice", whole, (0, 1), (0, 0), (outs, height * width * inner))
    weight = relax("reshape", relax("permute_dims", kept), (height, width, inner, outs))
    return relax("nn.conv2d", call.exprs[0], weight, call.ints("strides"), call.ints("padding"), call.ints("dilation"),
                 data_layout="NHWC", kernel_layout="HWIO", out_layout="NHWC",
                 out_dtype=call.dtype("out_dtype") or None)  # fmt: skip


def _nnpack_weight_type(call: RelayCall) -> Type:
    """Relation: a weight `(o, i, 3, 3)` becomes `(o, i, 8, 8)`."""
    weight = call.tensor()
    dtype = call.dtype("out_dtype") or weight.dtype
    if weight.dims is None:
        return TensorType(None, dtype)
    if len(weight.dims) != 4 or {known_size(dim) for dim in weight.dims[2:]} - {3, None}:
        raise call.refuse("expects a weight with a window of 3 by 3")
    return TensorType((*weight.dims[:2], *dims_of(8, 8)), dtype)


_AHEAD = "a convolution whose weight was laid out ahead for one machine"

SPECS = (
    *(op(f"nn.conv{k}d", "data weight", f"nn.conv{k}d", convolution_attrs(k),
         relation=derived_product(alike(f"nn.conv{k}d"), check_weight),
         expects=_expected_weight(is_transposed=False)) for k in (1, 2, 3)),
    *(op(f"nn.conv{k}d_transpose", "data weight", f"nn.conv{k}d_transpose",
         {**_attrs(k, "IO"), "output_padding": (0,) * k},
         relation=derived_product(alike(f"nn.conv{k}d_transpose"), check_windows),
         expects=_expected_weight(is_transposed=True)) for k in (1, 2, 3)),
    *(op(f"nn.contrib_{name}_NCHWc", "data weight", "nn.conv2d", convolution_attrs(2),
         relation=derived_product(alike("nn.conv2d"), check_weight))
      for name in ("conv2d", "depthwise_conv2d")),
    op("nn.contrib_conv2d_gemm_without_weight_transform", "data weight", _gemm_convolution, convolution_attrs(2),
       relation=plain_type),
    op("nn.contrib_conv2d_gemm_weight_transform", "weight", _gemm_weight, {"tile_N": 0, "tile_K": 0},
       relation=_gemm_weight_type),
    op("nn.contrib_conv2d_winograd_nnpack_weight_transform", "weight", None,
       {"convolution_algorithm": 0, "out_dtype": ""}, why=_AHEAD, relation=_nnpack_weight_type),
)  # fmt: skip
