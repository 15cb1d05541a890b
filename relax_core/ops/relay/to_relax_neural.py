"""Operators of neural networks, in Relax: products, convolutions, pooling, normalisation, losses."""

from types import MappingProxyType

import numpy as np

from relax_core.ir.expr import Expr, Tuple, constant
from relax_core.ops.relay.spec import RelayCall
from relax_core.ops.relay.to_relax_make import (
    Rule,
    Rules,
    axis_of,
    counted,
    dtype_of,
    extent,
    number,
    rank,
    relax,
    scalar,
    size,
    size_if_known,
    untranslated,
    vector,
)

_SPATIAL = "DHW"


def transposed(value: Expr, count: int) -> Expr:
    """Return a tensor of rank `count` with its last two axes exchanged."""
    order = (*range(count - 2), count - 1, count - 2)
    return relax("permute_dims", value, order)


def _dense(call: RelayCall) -> Expr:
    data, weight = call.exprs
    return relax("matmul", data, transposed(weight, 2), call.dtype("out_dtype") or None)


def _matmul(call: RelayCall) -> Expr:
    a, b = call.exprs
    a = transposed(a, rank(call)) if call.flag("transpose_a") else a
    b = transposed(b, rank(call, 1)) if call.flag("transpose_b") else b
    return relax("matmul", a, b, call.dtype("out_dtype") or None)


def _convolution(name: str) -> Rule:
    def rule(call: RelayCall) -> Expr:
        named = {key: call.ints(key) for key in ("strides", "padding", "dilation")}
        if "output_padding" in call.attrs:
            named["output_padding"] = call.ints("output_padding")
        return relax(
            name,
            *call.exprs,
            **named,
            groups=call.int_("groups"),
            data_layout=call.text("data_layout"),
            kernel_layout=call.text("kernel_layout"),
            out_layout=call.text("out_layout") or call.text("data_layout"),
            out_dtype=call.dtype("out_dtype") or None,
        )

    return rule


def _pool_attrs(call: RelayCall) -> dict[str, object]:
    return {
        "pool_size": call.ints("pool_size"),
        "strides": call.ints("strides"),
        "padding": call.ints("padding"),
        "dilation": call.ints("dilation"),
        "ceil_mode": call.flag("ceil_mode"),
        "count_include_pad": call.flag("count_include_pad"),
        "layout": call.text("layout"),
        "out_layout": call.text("out_layout") or call.text("layout"),
    }


def _pool(name: str) -> Rule:
    def rule(call: RelayCall) -> Expr:
        return relax(name, *call.exprs, **_pool_attrs(call))

    return rule


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


def _batch_norm(call: RelayCall) -> Expr:
    return relax(
        "nn.batch_norm",
        *call.exprs,
        axis=axis_of(call),
        epsilon=call.number("epsilon"),
        center=call.flag("center"),
        scale=call.flag("scale"),
        training=False,
    )


def _layer_norm(call: RelayCall) -> Expr:
    return relax("nn.layer_norm", *call.exprs, axes=(call.int_("axis"),), **_affine(call))


def _affine(call: RelayCall) -> dict[str, object]:
    return {"epsilon": call.number("epsilon"), "center": call.flag("center"), "scale": call.flag("scale")}


def _instance_norm(call: RelayCall) -> Expr:
    channel = axis_of(call)
    axes = tuple(k for k in range(1, rank(call)) if k != channel)
    return relax("nn.instance_norm", *call.exprs, channel_axis=channel, axes=axes, **_affine(call))


def _group_norm(call: RelayCall) -> Expr:
    channel = axis_of(call)
    axes = tuple(k for k in range(1, rank(call)) if k != channel)
    groups = call.int_("num_groups")
    return relax("nn.group_norm", *call.exprs, num_groups=groups, channel_axis=channel, axes=axes, **_affine(call))


def _l2_normalize(call: RelayCall) -> Expr:
    data = call.exprs[0]
    total = relax("sum", relax("square", data), call.ints("axis"), True)
    return relax("divide", data, relax("sqrt", relax("maximum", total, scalar(call.number("eps"), dtype_of(call)))))


def _lrn(call: RelayCall) -> Expr:
    """`x / (bias + alpha / size * sum of squares in the window) ** beta`."""
    data, axis, window = call.exprs[0], axis_of(call), call.int_("size")
    widths = tuple(window // 2 if k == axis else 0 for k in range(rank(call)) for _ in range(2))
    padded = relax("nn.pad", relax("square", data), widths)
    extent, dtype = size(call, axis), dtype_of(call)
    total: Expr = relax("strided_slice", padded, (axis,), (0,), (extent,))
    for start in range(1, 2 * (window // 2) + 1):
        total = relax("add", total, relax("strided_slice", padded, (axis,), (start,), (start + extent,)))
    scaled = relax("multiply", total, scalar(call.number("alpha") / window, dtype))
    base = relax("add", scaled, scalar(call.number("bias"), dtype))
    return relax("divide", data, relax("power", base, scalar(call.number("beta"), dtype)))


def _dropout(call: RelayCall) -> Expr:
    data = call.exprs[0]
    return Tuple((data, relax("ones_like", data)))


_PAD_MODES = MappingProxyType({"constant": "constant", "edge": "replicate", "reflect": "reflect"})


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


def _cross_entropy(call: RelayCall) -> Expr:
    predictions, targets = call.exprs
    total = relax("sum", relax("multiply", targets, relax("log", predictions)))
    return relax("negative", relax("divide", total, scalar(size(call, 0), dtype_of(call))))


def _fourier(call: RelayCall) -> Expr:
    """The transform along the last axis, as a product with the matrices of cosines and sines."""
    real, imaginary = call.exprs
    count, dtype = size(call, -1), dtype_of(call)
    angles = 2 * np.pi * np.outer(np.arange(count), np.arange(count)) / count
    factor = 1 / count if call.flag("inverse") else 1.0
    cosines = constant((np.cos(angles) * factor).astype(dtype))
    sines = constant((np.sin(angles) * factor * (-1 if call.flag("inverse") else 1)).astype(dtype))
    return Tuple(
        (
            relax("add", relax("matmul", real, cosines), relax("matmul", imaginary, sines)),
            relax("subtract", relax("matmul", imaginary, cosines), relax("matmul", real, sines)),
        )
    )


def _nll_loss(call: RelayCall) -> Expr:
    return relax("nn.nll_loss", *call.exprs, call.text("reduction"), call.int_("ignore_index"))


RULES: Rules = MappingProxyType(
    {
    "nn.contrib_conv2d_NCHWc": _convolution("nn.conv2d"),
    "nn.contrib_depthwise_conv2d_NCHWc": _convolution("nn.conv2d"),
    "nn.dense": _dense,
    "nn.matmul": _matmul,
    "nn.batch_matmul": _matmul,
    **{
        name: _convolution(name)
        for name in ("nn.conv1d", "nn.conv2d", "nn.conv3d", "nn.conv1d_transpose", "nn.conv2d_transpose",
                     "nn.conv3d_transpose")
    },
    **{f"nn.{kind}_pool{n}d": _pool(f"nn.{kind}_pool{n}d") for kind in ("max", "avg") for n in (1, 2, 3)},
    **{
        f"nn.global_{kind}_pool{n}d": _global_pool(name)
        for kind, name in (("max", "max"), ("avg", "mean"))
        for n in (1, 2, 3)
    },
    **{f"nn.adaptive_avg_pool{n}d": _adaptive_average(f"nn.adaptive_avg_pool{n}d") for n in (1, 2, 3)},
    **{f"nn.adaptive_max_pool{n}d": _adaptive_max(f"nn.max_pool{n}d") for n in (1, 2, 3)},
    "contrib.adaptive_avg_pool2d": _adaptive_average("nn.adaptive_avg_pool2d"),
    "contrib.adaptive_max_pool2d": _adaptive_max("nn.max_pool2d"),
    "nn.max_pool2d_grad": _pool("grad.max_pool2d_backward"),
    "nn.avg_pool2d_grad": _pool("grad.avg_pool2d_backward"),
    "nn.batch_norm": _batch_norm,
    "nn.layer_norm": _layer_norm,
    "nn.instance_norm": _instance_norm,
    "nn.group_norm": _group_norm,
    "nn.l2_normalize": _l2_normalize,
    "nn.lrn": _lrn,
    "nn.dropout": _dropout,
    "nn.pad": _pad,
    "nn.mirror_pad": _mirror_pad,
    "nn.cross_entropy": _cross_entropy,
    "nn.nll_loss": _nll_loss,
        "dft": _fourier,
    }
)  # fmt: skip
