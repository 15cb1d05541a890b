"""Relay's operators of pooling and padding."""

from types import MappingProxyType

from relax_core.ir.expr import Expr, TensorType, Type
from relax_core.ops.relay.dims import (
    calculate,
    dims_of,
    stored_axes,
    whole_axes,
)
from relax_core.ops.relay.entry import op
from relax_core.ops.relay.nn.convolution import check_windows, ints_for, spatial_of
from relax_core.ops.relay.spec import AttrDefault, RelayCall
from relax_core.ops.relay.translation import (
    Rule,
    counted,
    extent,
    number,
    rank,
    relax,
    scalar,
    size_if_known,
    untranslated,
    vector,
)
from relax_core.ops.spec import REQUIRED

_LAYOUTS = (("1d", "NCW"), ("2d", "NCHW"), ("3d", "NCDHW"))

_SPATIAL = "DHW"

_PAD_MODES = MappingProxyType({"constant": "constant", "edge": "replicate", "reflect": "reflect"})


def _pool_to_type(call: RelayCall) -> Type:
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


def _pad_type(call: RelayCall) -> Type:
    data, widths = call.tensor(), call.pairs("pad_width")
    if data.dims is None:
        return data
    if len(widths) != len(data.dims):
        raise call.refuse(f"expects {len(data.dims)} pairs as `pad_width`, got {len(widths)}")
    dims = tuple(calculate("+", dim, sum(pair)) for dim, pair in zip(data.dims, widths, strict=True))
    return TensorType(dims, data.dtype)


def _like_second(call: RelayCall) -> Type:
    return call.tensor(1)


def pool_attrs(layout: str, *more: str) -> dict[str, AttrDefault]:
    count = len(layout) - 2
    attrs: dict[str, AttrDefault] = {
        "pool_size": REQUIRED, "strides": (1,) * count, "dilation": (1,) * count, "padding": (0,) * count,
        "layout": layout, "out_layout": "", "ceil_mode": False,
    }  # fmt: skip
    return {**attrs, **dict.fromkeys(more, False)}


def _spatial_axes(call: RelayCall) -> tuple[int, ...]:
    layout = call.text("layout")
    if not layout.isalpha() or len(layout) != rank(call):
        raise untranslated(call, f"the layout {layout} has axes in blocks")
    return tuple(k for k, letter in enumerate(layout) if letter in _SPATIAL)


def _global_pool(name: str) -> Rule:
    def rule(call: RelayCall) -> Expr:
        return relax(name, call.exprs[0], _spatial_axes(call), True)

    return rule


def _adaptive_average(name: str) -> Rule:
    def rule(call: RelayCall) -> Expr:
        wanted = call.ints("output_size") or None
        layout = call.text("layout")
        return relax(name, call.exprs[0], wanted, layout, call.text("out_layout") or layout)

    return rule


def _adaptive_max(name: str) -> Rule:
    """Max pooling with windows that divide the data; others overlap, and are taken along one axis after the other."""

    def rule(call: RelayCall) -> Expr:
        axes = _spatial_axes(call)
        given = call.ints("output_size")
        wanted = given * len(axes) if len(given) == 1 else given
        sizes = tuple(size_if_known(call, axis) for axis in axes)
        if not wanted or wanted == sizes:
            return call.exprs[0]
        windows = tuple(
            whole // part if whole is not None and not whole % part else 0
            for whole, part in zip(sizes, wanted, strict=True)
        )
        if not all(windows):
            return _greatest_parts(call, axes, wanted)
        layout = call.text("layout")
        return relax(name, call.exprs[0], windows, windows, (0,) * len(axes), (1,) * len(axes), layout=layout,
                     out_layout=layout)  # fmt: skip

    return rule


def _greatest_parts(call: RelayCall, axes: tuple[int, ...], wanted: tuple[int, ...]) -> Expr:
    """Part `k` of `n` begins at `floor(k * size / n)` and ends before `ceil((k + 1) * size / n)`."""
    value = call.exprs[0]
    for axis, count in zip(axes, wanted, strict=True):
        whole = extent(call, axis)
        at, parts = vector(tuple(range(count))), scalar(count, "int64")
        first = relax("floor_divide", relax("multiply", at, whole), parts)
        behind = relax("multiply", vector(tuple(range(1, count + 1))), whole)
        last = relax("floor_divide", relax("subtract", behind, scalar(1, "int64")), parts)
        widest = relax("add", relax("max", relax("subtract", last, first), (0,), True), vector((1,)))
        places = relax("add", relax("expand_dims", first, (1,)), counted(widest))
        # A part that is narrower than others reads its last element again.
        held = relax("minimum", places, relax("expand_dims", last, (1,)))
        value = relax("max", relax("take", value, held, axis), (axis + 1,))
    return value


def _pad(call: RelayCall) -> Expr:
    widths = tuple(item for pair in call.pairs("pad_width") for item in pair)
    mode = _PAD_MODES.get(call.text("pad_mode"))
    if mode is None:
        raise untranslated(call, f"there is no padding {call.text('pad_mode')}")
    data, *given = call.exprs
    value = number(call, 1) if given else call.number("pad_value")
    return relax("nn.pad", data, widths, mode, float(value))


def _mirror_pad(call: RelayCall) -> Expr:
    if call.text("mode") != "REFLECT":
        raise untranslated(call, "Relax mirrors without the edge only, mode REFLECT")
    widths = tuple(item for pair in call.pairs("pad_width") for item in pair)
    return relax("nn.pad", call.exprs[0], widths, "reflect")


_ADAPTIVE = MappingProxyType({"output_size": (), "layout": "NCHW", "out_layout": ""})

SPECS = (
    *(op(f"nn.max_pool{k}", "data", f"nn.max_pool{k}", pool_attrs(layout), check=check_windows)
      for k, layout in _LAYOUTS),
    *(op(f"nn.avg_pool{k}", "data", f"nn.avg_pool{k}", pool_attrs(layout, "count_include_pad"),
         check=check_windows)
      for k, layout in _LAYOUTS),
    *(op(f"nn.global_{how}_pool{k}", "data", _global_pool(name), {"layout": layout, "out_layout": ""},
         relation=_pool_to_type) for how, name in (("max", "max"), ("avg", "mean")) for k, layout in _LAYOUTS),
    *(op(f"nn.adaptive_avg_pool{k}", "data", _adaptive_average(f"nn.adaptive_avg_pool{k}"),
         {**_ADAPTIVE, "layout": layout}, relax=f"nn.adaptive_avg_pool{k}", relation=_pool_to_type)
      for k, layout in _LAYOUTS),
    *(op(f"nn.adaptive_max_pool{k}", "data", _adaptive_max(f"nn.max_pool{k}"), {**_ADAPTIVE, "layout": layout},
         relation=_pool_to_type) for k, layout in _LAYOUTS),
    op("contrib.adaptive_avg_pool2d", "data", _adaptive_average("nn.adaptive_avg_pool2d"), _ADAPTIVE,
       relation=_pool_to_type),
    op("contrib.adaptive_max_pool2d", "data", _adaptive_max("nn.max_pool2d"), _ADAPTIVE, relation=_pool_to_type),
    op("nn.max_pool2d_grad", "out_grad data", "grad.max_pool2d_backward", pool_attrs("NCHW"),
       relation=_like_second),
    op("nn.avg_pool2d_grad", "out_grad data", "grad.avg_pool2d_backward", pool_attrs("NCHW", "count_include_pad"),
       relation=_like_second),
    op("nn.pad", "data pad_value?", _pad, {"pad_width": REQUIRED, "pad_mode": "constant", "pad_value": 0.0},
       relax="nn.pad", relation=_pad_type),
    op("nn.mirror_pad", "data", _mirror_pad, {"pad_width": REQUIRED, "mode": "SYMMETRIC"}, relax="nn.pad",
       relation=_pad_type),
)  # fmt: skip
