"""Relay's convolutions, in any layout, with padding, strides, dilation and groups."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from relax_core.ir.prim import PrimExpr
from relax_core.ir.types import TensorType, Type
from relax_core.ops.relay.dims import calculate, dims_of, is_same, layout_parts, size, stored_axes, whole_axes
from relax_core.ops.relay.rare import convolution_weight_gradient, gemm_weight, nnpack_weight, packed_convolution
from relax_core.ops.relay.show import show_dim, show_dims
from relax_core.ops.relay.spec import TUNED, AttrDefault, Expects, RelayCall, op

SPATIAL = ("W", "HW", "DHW")


def spatial_of(layout: str) -> str:
    """Return the letters of a data layout that are neither the batch nor the channels."""
    return "".join(letter for letter, _ in layout_parts(layout) if letter.isupper() and letter not in "NC")


def ints_for(call: RelayCall, name: str, count: int) -> tuple[int, ...]:
    """Return an attribute with one integer per spatial axis; one integer stands for all."""
    values = call.ints(name)
    if len(values) == 1:
        values = values * count
    if len(values) != count or (min(values) < 1 and name in ("strides", "dilation", "pool_size", "kernel_size")):
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
    if (size(total) or 0) < 0:
        raise call.refuse(f"has a window that is larger than its padded input along {letter}")
    return calculate("+", calculate("//", total, window.stride), 1)


def _reach(kernel: PrimExpr | int, dilation: int) -> PrimExpr:
    width = dims_of(kernel)[0] if isinstance(kernel, int) else kernel
    return calculate("+", calculate("*", calculate("-", width, 1), dilation), 1)


def _kernel_axes(call: RelayCall, layout: str, weight: TensorType | None, *, is_wide: bool) -> dict[str, PrimExpr]:
    """Return the kernel's sizes by letter, from the weight, or from `channels` and `kernel_size`."""
    if weight is not None and weight.dims is not None:
        return whole_axes(call, weight.dims, layout)
    spatial = "".join(letter for letter, _ in layout_parts(layout) if letter.isupper() and letter not in "OI")
    if not call.has("channels") or not call.has("kernel_size"):
        raise call.refuse("needs `channels` and `kernel_size`, for the type of its weight is unknown", code="RY010")
    sizes: dict[str, PrimExpr] = dict(zip(spatial, dims_of(*ints_for(call, "kernel_size", len(spatial))), strict=True))
    channels = call.int_("channels")
    return {**sizes, "O": dims_of(channels // call.int_("groups") if is_wide else channels)[0]}


def _expected_weight(*, is_transposed: bool) -> Expects:
    def expects(call: RelayCall) -> tuple[Type | None, ...]:
        data = call.tensor(0)
        layout = call.text("kernel_layout")
        if data.dims is None or not call.has("channels") or not call.has("kernel_size") or call.int_("groups") != 1:
            return (None, None)
        sizes = _kernel_axes(call, layout, None, is_wide=is_transposed)
        sizes["I"] = whole_axes(call, data.dims, call.text("data_layout"))["C"]
        return (None, TensorType(stored_axes(call, sizes, layout), None))

    return expects


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
    if isinstance(channels, int) and size(kernel["O"]) not in (None, channels):
        raise call.refuse(f"has channels={channels}, but its weight has {show_dim(kernel['O'])}")


def convolve(call: RelayCall) -> Type:
    """Relation: a convolution of `data` with `weight`; the result is in `out_layout`, else in the data's."""
    data, weight = call.tensor(0), call.tensor(1)
    dtype = call.dtype("out_dtype") or data.dtype
    layout = call.text("data_layout")
    if data.dims is None:
        return TensorType(None, dtype)
    spatial = spatial_of(layout)
    sizes = whole_axes(call, data.dims, layout)
    kernel = _kernel_axes(call, call.text("kernel_layout"), weight, is_wide=False)
    _check_kernel(call, sizes, kernel, spatial)
    strides, dilation = ints_for(call, "strides", len(spatial)), ints_for(call, "dilation", len(spatial))
    for letter, stride, pad, step in zip(spatial, strides, padding_of(call, len(spatial)), dilation, strict=True):
        sizes[letter] = window_count(call, sizes[letter], Window(kernel[letter], stride, pad, step), letter)
    sizes["C"] = kernel["O"]
    return TensorType(stored_axes(call, sizes, call.text("out_layout") or layout), dtype)


def convolve_transposed(call: RelayCall) -> Type:
    """Relation: a transposed convolution, `(n - 1) * stride - padding + reach + output_padding`."""
    data, weight = call.tensor(0), call.tensor(1)
    dtype = call.dtype("out_dtype") or data.dtype
    layout = call.text("data_layout")
    if data.dims is None:
        return TensorType(None, dtype)
    spatial = spatial_of(layout)
    sizes = whole_axes(call, data.dims, layout)
    kernel = _kernel_axes(call, call.text("kernel_layout"), weight, is_wide=True)
    if "I" in kernel and is_same(sizes["C"], kernel["I"]) is False:
        raise call.refuse(f"expects {show_dim(sizes['C'])} input channels in its weight, got {show_dim(kernel['I'])}")
    count = len(spatial)
    strides, dilation, more = (ints_for(call, name, count) for name in ("strides", "dilation", "output_padding"))
    for k, (letter, pad) in enumerate(zip(spatial, padding_of(call, count), strict=True)):
        grown = calculate("*", calculate("-", sizes[letter], 1), strides[k])
        sizes[letter] = calculate("+", calculate("+", grown, _reach(kernel[letter], dilation[k])), more[k] - sum(pad))
    sizes["C"] = calculate("*", kernel["O"], call.int_("groups"))
    return TensorType(stored_axes(call, sizes, call.text("out_layout") or layout), dtype)


def _deformable(call: RelayCall) -> Type:
    data, offset, weight = call.tensor(0), call.tensor(1), call.tensor(2)
    if data.dims is None or offset.dims is None or weight.dims is None:
        return TensorType(None, data.dtype)
    layout = call.text("data_layout")
    sizes, moved = whole_axes(call, data.dims, layout), whole_axes(call, offset.dims, layout)
    sizes.update(H=moved["H"], W=moved["W"], C=whole_axes(call, weight.dims, call.text("kernel_layout"))["O"])
    return TensorType(stored_axes(call, sizes, layout), call.dtype("out_dtype") or data.dtype)


def _without_weight(call: RelayCall) -> Type:
    """Relation: a convolution whose weight was transformed, so that its sizes are those of the attributes."""
    free = RelayCall(call.name, (call.args[0], TensorType(None, None)), {**call.attrs, "kernel_layout": "OIHW"})
    data = call.tensor(0)
    spatial = spatial_of(call.text("data_layout"))
    depth = dict(free.attrs) | ({"kernel_layout": "OIDHW"} if len(spatial) == 3 else {})
    result = convolve(RelayCall(call.name, free.args, depth))
    return result if data.dims is not None else TensorType(None, data.dtype)


def _winograd_weight(call: RelayCall) -> Type:
    """Relation: `(o, i, h, w)` becomes `(tile + h - 1, tile + w - 1, o, i)`; a depth is kept."""
    weight = call.tensor()
    if weight.dims is None:
        return weight
    if len(weight.dims) < 2:
        raise call.refuse(f"expects a weight of rank 4 or 5, got {show_dims(weight.dims)}")
    out, inner, *window = weight.dims
    tile = call.int_("tile_size")
    return TensorType((*(calculate("+", dim, tile - 1) for dim in window), out, inner), weight.dtype)


def _attrs(count: int, kernel: str) -> dict[str, AttrDefault]:
    spatial = SPATIAL[count - 1]
    return {
        "strides": (1,) * count, "padding": (0,) * count, "dilation": (1,) * count, "groups": 1, "channels": None,
        "kernel_size": None, "data_layout": f"NC{spatial}", "kernel_layout": kernel + spatial, "out_layout": "",
        "out_dtype": "", **TUNED,
    }  # fmt: skip


def conv_attrs(count: int) -> dict[str, AttrDefault]:
    """Return the attributes of a convolution over `count` spatial axes."""
    return _attrs(count, "OI")


_WINOGRAD = "products at the points of Winograd's scheme, between transformations"
_AHEAD = "a convolution whose weight was laid out ahead for one machine"
_TILES = "a convolution whose weight is in tiles"
_TILED = MappingProxyType({"tile_size": 0})

SPECS = (
    *(op(f"nn.conv{k}d", "data weight", convolve, conv_attrs(k), relax=f"relax.nn.conv{k}d",
         expects=_expected_weight(is_transposed=False)) for k in (1, 2, 3)),
    *(op(f"nn.conv{k}d_transpose", "data weight", convolve_transposed,
         {**_attrs(k, "IO"), "output_padding": (0,) * k}, relax=f"relax.nn.conv{k}d_transpose",
         expects=_expected_weight(is_transposed=True)) for k in (1, 2, 3)),
    *(op(f"nn.contrib_{name}_NCHWc", "data weight", convolve, conv_attrs(2), relax="relax.nn.conv2d")
      for name in ("conv2d", "depthwise_conv2d")),
    *(op(f"nn.contrib_conv{k}d_winograd_without_weight_transform", "data weight", _without_weight,
         {**_TILED, **conv_attrs(k)}, why=_WINOGRAD) for k in (2, 3)),
    *(op(f"nn.contrib_conv{k}d_winograd_weight_transform", "weight", _winograd_weight, _TILED, why=_WINOGRAD)
      for k in (2, 3)),
    op("nn.contrib_conv2d_gemm_without_weight_transform", "data weight", _without_weight, conv_attrs(2),
       why=_TILES),
    op("nn.contrib_conv2d_gemm_weight_transform", "weight", gemm_weight, {"tile_N": 0, "tile_K": 0}, why=_TILES),
    op("nn.contrib_conv2d_winograd_nnpack_weight_transform", "weight", nnpack_weight,
       {"convolution_algorithm": 0, "out_dtype": ""}, why=_AHEAD),
    op("nn.deformable_conv2d", "data offset weight", _deformable, {**conv_attrs(2), "deformable_groups": 1},
       why="pixels at computed places times the weight"),
    op("nn.conv2d_backward_weight", "grad data", convolution_weight_gradient,
       {**conv_attrs(2), "grad_layout": "NCHW"}, why="a convolution of the data with the gradient"),
    op("nn.bitserial_conv2d", "data weight", packed_convolution,
       {"channels": None, "kernel_size": None, "strides": (1, 1), "padding": (0, 0), "activation_bits": 1,
        "weight_bits": 1, "data_layout": "NCHW", "kernel_layout": "OIHW", "pack_dtype": "uint32",
        "out_dtype": "int16", "unipolar": True}, why="a convolution of what the bits stand for"),
)  # fmt: skip
