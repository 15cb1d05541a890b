"""Relay's operators of neural networks: products, normalisation, losses."""

from dataclasses import replace
from types import MappingProxyType

import numpy as np

from relax_core.ir.expr import Expr, TensorType, Tuple, TupleType, Type, constant
from relax_core.ir.prim import IntImm, PrimExpr
from relax_core.ops.relay.derive import derived_product
from relax_core.ops.relay.dims import (
    broadcast,
    calculate,
    is_same,
    normal_axis,
)
from relax_core.ops.relay.entry import op
from relax_core.ops.relay.show import show_dim, show_type
from relax_core.ops.relay.spec import TUNED, Expects, RelayCall
from relax_core.ops.relay.tensor.elementwise import identity
from relax_core.ops.relay.translation import (
    along,
    axis_of,
    dims,
    dtype_of,
    rank,
    relax,
    scalar,
    size,
    untranslated,
)
from relax_core.ops.spec import REQUIRED

_TILE = "NC"


def _check_inner(call: RelayCall, a: PrimExpr, b: PrimExpr) -> None:
    if is_same(a, b) is False:
        types = f"{show_type(call.args[0])} and {show_type(call.args[1])}"
        raise call.refuse(f"expects equal inner sizes, got {show_dim(a)} and {show_dim(b)}: {types}")


def _product_dtype(call: RelayCall) -> str | None:
    return call.dtype("out_dtype") or call.tensor(0).dtype


def check_dense(call: RelayCall) -> None:
    """Compare the inner sizes, and the weight with `units`."""
    data, weight = call.dims(0), call.dims(1)
    if not data or weight is None:
        return
    if len(weight) != 2:
        raise call.refuse(f"expects a weight of rank 2, got {show_type(call.args[1])}")
    _check_inner(call, data[-1], weight[1])
    units = call.attrs.get("units")
    if isinstance(units, int) and is_same(weight[0], IntImm(units)) is False:
        raise call.refuse(f"has units={units}, but its weight has {show_dim(weight[0])}")


def _dense_weight(call: RelayCall) -> tuple[Type | None, ...]:
    data = call.tensor()
    if not data.dims or not call.has("units"):
        return (None, None)
    return (None, TensorType((IntImm(call.int_("units")), data.dims[-1]), None))


def matmul_type(call: RelayCall) -> Type:
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


def _batch_norm_type(call: RelayCall) -> Type:
    data, channel = call.tensor(), _channel(call)
    return TupleType((data, channel, channel))


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


def _fourier_type(call: RelayCall) -> Type:
    """Relation: the real and the imaginary part, each like its argument."""
    return TupleType((call.tensor(0), call.tensor(1)))


def _bias_add(call: RelayCall) -> Expr:
    data, bias = call.exprs
    return relax("add", data, along(call, bias, axis_of(call)))


def _prelu(call: RelayCall) -> Expr:
    return relax("nn.prelu", *call.exprs, axis_of(call))


def dense_pack_type(call: RelayCall) -> Type:
    """Relation: a product with a weight that is stored in tiles of rows."""
    data, weight = call.dims(0), call.dims(1)
    if not data or weight is None or len(weight) != 3:
        return TensorType(None, _product_dtype(call))
    return TensorType((*data[:-1], calculate("*", weight[0], weight[2])), _product_dtype(call))


def dense_pack(call: RelayCall) -> Expr:
    """The weight is stored in tiles of rows: `(rows // tile, columns, tile)`."""
    data, weight = call.exprs
    if rank(call, 1) != 3:
        raise call.refuse(f"expects a weight of rank 3, got {show_type(call.args[1])}")
    tiles, columns, tile = dims(call, 1)
    stored = call.text("weight_layout")
    if not stored.startswith(_TILE) or not stored.endswith("n"):
        raise untranslated(call, f"the weight has the layout {stored}, not tiles of rows such as NC8n")
    whole = relax("reshape", relax("permute_dims", weight, (1, 0, 2)), (columns, calculate("*", tiles, tile)))
    return relax("matmul", data, whole, call.dtype("out_dtype") or None)


def _mean_type(call: RelayCall) -> Type:
    return TensorType((), call.tensor().dtype)


_PRODUCT = MappingProxyType({"units": None, "out_dtype": "", "transpose_a": False, "transpose_b": False, **TUNED})
_BATCH = MappingProxyType({"out_dtype": "", "transpose_a": False, "transpose_b": True, **TUNED})
_NORM = MappingProxyType({"epsilon": 1e-05, "center": True, "scale": True})

SPECS = (
    op("nn.dense", "data weight", _dense, {"units": None, "out_dtype": "", **TUNED}, relax="linear",
       relation=derived_product(_dense, check_dense), expects=_dense_weight),
    op("nn.matmul", "tensor_a tensor_b", _matmul, _PRODUCT, relax="matmul", relation=matmul_type),
    op("nn.batch_matmul", "tensor_a tensor_b", _matmul, _BATCH, relax="matmul", relation=matmul_type),
    op("nn.contrib_dense_pack", "data weight", dense_pack, {"units": None, "out_dtype": "", "weight_layout": "NC"},
       relax="matmul", relation=dense_pack_type),
    op("nn.bias_add", "data bias", _bias_add, {"axis": 1}, relax="add", relation=identity,
       expects=_one_per_channel(1)),
    op("nn.prelu", "data alpha", _prelu, {"axis": 1}, relax="nn.prelu", relation=identity,
       expects=_one_per_channel(1)),
    op("nn.batch_norm", "data gamma beta moving_mean moving_var", _batch_norm, {"axis": 1, **_NORM},
       relax="nn.batch_norm", relation=_batch_norm_type, expects=_one_per_channel(4, has_dtype=False)),
    op("nn.layer_norm", "data gamma beta", _layer_norm, {"axis": -1, **_NORM}, relax="nn.layer_norm",
       relation=identity, expects=_one_per_channel(2)),
    op("nn.instance_norm", "data gamma beta", _instance_norm, {"axis": 1, **_NORM}, relax="nn.instance_norm",
       relation=identity, expects=_one_per_channel(2)),
    op("nn.group_norm", "data gamma beta", _group_norm, {"num_groups": REQUIRED, "axis": 1, **_NORM},
       relax="nn.group_norm", relation=identity, expects=_one_per_channel(2)),
    op("nn.dropout", "data", _dropout, {"rate": 0.5}, relax="nn.dropout"),
    op("nn.lrn", "data", _lrn, {"size": 5, "axis": 1, "bias": 2.0, "alpha": 1e-05, "beta": 0.75}, relation=identity),
    op("nn.l2_normalize", "data", _l2_normalize, {"eps": REQUIRED, "axis": ()}, relation=identity),
    op("nn.cross_entropy", "predictions targets", _cross_entropy, relation=_mean_type),
    op("nn.cross_entropy_with_logits", "predictions targets", "nn.cross_entropy_with_logits", relation=_mean_type),
    op("nn.nll_loss", "predictions targets weights", "nn.nll_loss", {"reduction": "mean", "ignore_index": -100}),
    op("dft", "re_data im_data", _fourier, {"inverse": False}, relation=_fourier_type),
)  # fmt: skip
