"""Convolutions by Winograd's scheme: what its two halves compute, the weight's and the data's.

An output tile of `m` elements and a window of `r` take `m + r - 1` products, one for each point at which polynomials
are evaluated. See: Lavin and Gray, Fast Algorithms for Convolutional Neural Networks; Toom and Cook, before them.
"""

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from relax_core.ir.expr import Expr, TensorType, Type, constant
from relax_core.ops.relay.dims import (
    calculate,
    dims_of,
    stored_axes,
    whole_axes,
)
from relax_core.ops.relay.entry import op
from relax_core.ops.relay.nn.convolution import convolution_attrs, plain_type
from relax_core.ops.relay.show import show_dims
from relax_core.ops.relay.spec import RelayCall
from relax_core.ops.relay.translation import cast, dtype_of, moved, rank, relax, size, untranslated

Matrix = npt.NDArray[np.float64]

_POINTS: Mapping[int, tuple[float, ...]] = MappingProxyType(
    {
        3: (0.0, -1.0, 1.0),
        4: (0.0, -1.0, 1.0, 0.5),
        5: (0.0, -1.0, 1.0, 0.5, -2.0),
        6: (0.0, -1.0, 1.0, 0.5, -2.0, -0.5),
        7: (0.0, -1.0, 1.0, 0.5, -0.5, 2.0, -2.0),
    }
)
"""Where polynomials are evaluated, by the number of points besides the one at infinity."""


def matrices(tile: int, window: int) -> tuple[Matrix, Matrix, Matrix]:
    """Return what is applied to the products, the data and the weight: `y = A' (G w * B' d)`.

    Of rows with the factor of a point the first is positive, as TVM has it, whose transformed weights are read here.
    """
    count = tile + window - 1
    points = np.array(_POINTS[count - 1])
    ends = [np.append(np.zeros(width - 1), 1.0) for width in (tile, window)]
    after, before = (np.vstack((np.vander(points, width, increasing=True), end))
                     for width, end in zip((tile, window), ends, strict=True))  # fmt: skip
    data = np.zeros((count, count))
    for k, point in enumerate(points):
        others: Matrix = np.delete(points, k)
        factor = float(np.multiply.reduce(point - others))
        sign = -1.0 if k == 0 and factor < 0 else 1.0
        before[k] *= sign / factor
        data[: count - 1, k] = sign * _coefficients(others)
    data[:, -1] = _coefficients(points)
    return after, data, before


def _coefficients(roots: Matrix) -> Matrix:
    """Return the coefficients of the polynomial with these roots, that of the lowest power first."""
    found = np.ones(1)
    for root in roots:
        found = np.append(0.0, found) - root * np.append(found, 0.0)
    return found


def _transformed(value: Expr, matrix: Matrix, where: tuple[int, int], dtype: str) -> Expr:
    """Apply a matrix along axis `where[0]` of a tensor of rank `where[1]`."""
    axis, count = where
    made = relax("matmul", moved(value, count, axis, count - 1), constant(matrix.T.astype(dtype)))
    return moved(made, count, count - 1, axis)


def _tile(call: RelayCall, window: tuple[int, ...]) -> int:
    tile = call.int_("tile_size")
    if tile < 2 or len(set(window)) != 1 or tile + window[0] - 2 not in _POINTS:
        raise untranslated(call, f"a window of {' by '.join(map(str, window))} with tiles of {tile}")
    return tile


def _weight(call: RelayCall) -> Expr:
    count = rank(call)
    window = tuple(size(call, axis) for axis in range(2, count))
    _, _, matrix = matrices(_tile(call, window), window[0])
    value, dtype = call.exprs[0], dtype_of(call)
    for axis in range(2, count):
        value = _transformed(value, matrix, (axis, count), dtype)
    return relax("permute_dims", value, (*range(2, count), 0, 1))


def _convolution(call: RelayCall) -> Expr:
    """Cut the data into tiles that overlap, transform them, multiply channels at each point, transform back."""
    spatial = rank(call) - 2
    layout = call.text("data_layout")
    is_plain = layout in ("NCHW", "NCDHW") and call.int_("groups") == 1
    if not is_plain or any(item != 1 for name in ("strides", "dilation") for item in call.ints(name)):
        raise untranslated(call, "strides, dilation or groups other than 1, or channels that are not the second axis")
    window = call.ints("kernel_size")
    tile = _tile(call, window)
    after, data, _ = matrices(tile, window[0])
    padding = _both_sides(call.ints("padding"), spatial)
    outs = tuple(size(call, k + 2) + sum(padding[k]) - window[0] + 1 for k in range(spatial))
    counts = tuple(-(-out // tile) for out in outs)
    value = _tiles(call, padding, (tile, tile + window[0] - 1), outs)
    dtype = dtype_of(call)
    whole = 2 + 2 * spatial
    for k in range(spatial):
        value = _transformed(value, data.T, (3 + 2 * k, whole), dtype)
    batch, channels = size(call, 0), size(call, 1)
    points = tuple(3 + 2 * k for k in range(spatial))
    places = tuple(2 + 2 * k for k in range(spatial))
    extents = (tile + window[0] - 1,) * spatial
    value = relax("permute_dims", value, (*points, 1, 0, *places))
    value = relax("reshape", value, (*extents, channels, batch * int(np.prod(counts))))
    out_channels = size(call, spatial, 1)
    value = relax("reshape", relax("matmul", call.exprs[1], value), (*extents, out_channels, batch, *counts))
    for k in range(spatial):
        value = _transformed(value, after.T, (k, whole), dtype)
    order = (spatial + 1, spatial, *(axis for k in range(spatial) for axis in (spatial + 2 + k, k)))
    shown = relax("reshape", relax("permute_dims", value, order), (batch, out_channels, *(n * tile for n in counts)))
    made = relax("strided_slice", shown, tuple(range(2, 2 + spatial)), (0,) * spatial, outs)
    wanted = call.dtype("out_dtype")
    return cast(made, wanted) if wanted and wanted != dtype else made


def _both_sides(given: tuple[int, ...], count: int) -> tuple[tuple[int, int], ...]:
    """Return the padding before and behind each axis."""
    every = given * count if len(given) == 1 else given
    before, behind = (every[:count], every[count:]) if len(every) == 2 * count else (every, every)
    return tuple(zip(before, behind, strict=True))


def _tiles(
    call: RelayCall, padding: tuple[tuple[int, int], ...], extent: tuple[int, int], outs: tuple[int, ...]
) -> Expr:
    """Return the padded data with two axes for each spatial one: the tile, and the place in it."""
    step, width = extent
    widths = [0, 0, 0, 0]
    for k, (before, behind) in enumerate(padding):
        count = -(-outs[k] // step)
        widths += (before, behind + (count - 1) * step + width - size(call, k + 2) - before - behind)
    value: Expr = relax("nn.pad", call.exprs[0], tuple(widths), "constant", 0.0)
    for k, out in enumerate(outs):
        starts = np.arange(-(-out // step))[:, None] * step
        value = relax("take", value, constant((starts + np.arange(width)).astype("int64")), 2 + 2 * k)
    return value


def _weight_gradient(call: RelayCall) -> Expr:
    """The data convolved with the gradient of the result: its steps are the dilation, its dilation the strides."""
    layouts = tuple(call.text(name) for name in ("data_layout", "grad_layout", "kernel_layout"))
    if layouts != ("NCHW", "NCHW", "OIHW") or call.int_("groups") != 1:
        raise untranslated(call, "groups, or layouts other than NCHW and OIHW")
    grad, data = call.exprs
    padding = call.ints("padding")
    made = relax("nn.conv2d", relax("permute_dims", data, (1, 0, 2, 3)), relax("permute_dims", grad, (1, 0, 2, 3)),
                 call.ints("dilation"), padding * 2 if len(padding) == 1 else padding, call.ints("strides"),
                 out_dtype=call.dtype("out_dtype") or dtype_of(call))  # fmt: skip
    kept = relax("strided_slice", made, (2, 3), (0, 0), call.ints("kernel_size"))
    return relax("permute_dims", kept, (1, 0, 2, 3))


def _weight_type(call: RelayCall) -> Type:
    """Relation: `(o, i, h, w)` becomes `(tile + h - 1, tile + w - 1, o, i)`; a depth is kept."""
    weight = call.tensor()
    if weight.dims is None:
        return weight
    if len(weight.dims) < 2:
        raise call.refuse(f"expects a weight of rank 4 or 5, got {show_dims(weight.dims)}")
    out, inner, *window = weight.dims
    tile = call.int_("tile_size")
    return TensorType((*(calculate("+", dim, tile - 1) for dim in window), out, inner), weight.dtype)


def _two(call: RelayCall, name: str) -> tuple[int, int]:
    values = call.ints(name)
    if len(values) != 2 or min(values) < 1:
        raise call.refuse(f"expects two positive integers as `{name}`, got {list(values)}", code="RY010")
    return values[0], values[1]


def _weight_gradient_type(call: RelayCall) -> Type:
    """Relation: the weight's gradient, `(out channels, input channels / groups, *kernel_size)` in `kernel_layout`."""
    grad, data = call.tensor(0), call.tensor(1)
    dtype = call.dtype("out_dtype") or data.dtype
    if grad.dims is None or data.dims is None or not call.has("kernel_size"):
        return TensorType(None, dtype)
    out = whole_axes(call, grad.dims, call.text("grad_layout"))["C"]
    inner = calculate("//", whole_axes(call, data.dims, call.text("data_layout"))["C"], call.int_("groups"))
    height, width = dims_of(*_two(call, "kernel_size"))
    sizes = {"O": out, "I": inner, "H": height, "W": width}
    return TensorType(stored_axes(call, sizes, call.text("kernel_layout")), dtype)


_TILED = MappingProxyType({"tile_size": 0})

SPECS = (
    *(op(f"nn.contrib_conv{k}d_winograd_without_weight_transform", "data weight", _convolution,
         {**_TILED, **convolution_attrs(k)}, relation=plain_type) for k in (2, 3)),
    *(op(f"nn.contrib_conv{k}d_winograd_weight_transform", "weight", _weight, _TILED, relation=_weight_type)
      for k in (2, 3)),
    op("nn.conv2d_backward_weight", "grad data", _weight_gradient, {**convolution_attrs(2), "grad_layout": "NCHW"},
       relation=_weight_gradient_type),
)  # fmt: skip
