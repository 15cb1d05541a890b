"""Convolution with learned offsets: pixels at computed places, interpolated, times the weight as a matrix.

See: Dai et al., Deformable Convolutional Networks, 2017, arXiv 1703.06211
"""

from dataclasses import dataclass
from functools import reduce
from itertools import product
from types import MappingProxyType

import numpy as np

from relax_core.ir.expr import Expr, TensorType, Type, constant
from relax_core.ops.relay.dims import stored_axes, whole_axes
from relax_core.ops.relay.entry import op
from relax_core.ops.relay.nn.convolution import convolution_attrs
from relax_core.ops.relay.spec import RelayCall
from relax_core.ops.relay.translation import cast, dtype_of, relax, scalar, size, untranslated

_INDEX = "int64"


def _deformable_type(call: RelayCall) -> Type:
    data, offset, weight = call.tensor(0), call.tensor(1), call.tensor(2)
    if data.dims is None or offset.dims is None or weight.dims is None:
        return TensorType(None, data.dtype)
    layout = call.text("data_layout")
    sizes, moved = whole_axes(call, data.dims, layout), whole_axes(call, offset.dims, layout)
    sizes.update(H=moved["H"], W=moved["W"], C=whole_axes(call, weight.dims, call.text("kernel_layout"))["O"])
    return TensorType(stored_axes(call, sizes, layout), call.dtype("out_dtype") or data.dtype)


@dataclass(frozen=True, slots=True)
class _Pixels:
    """The pixels of `count` images of `height` times `width`, one a row."""

    rows: Expr
    count: int
    height: int
    width: int

    def at(self, y: Expr, x: Expr) -> Expr:
        """Return the pixels at whole places `(count, window, height, width)`, zero outside of the image."""
        first = np.arange(self.count).reshape(-1, 1, 1, 1) * self.height * self.width
        inside = [cast(relax("clip", p, 0, e - 1), _INDEX) for p, e in ((y, self.height), (x, self.width))]
        row = relax("multiply", inside[0], scalar(self.width, _INDEX))
        index = relax("add", relax("add", row, inside[1]), constant(first.astype(_INDEX)))
        found = relax("take", self.rows, index, 0)
        tests = [
            relax(name, place, scalar(limit, "float32"))
            for place, extent in ((y, self.height), (x, self.width))
            for name, limit in (("greater_equal", 0), ("less_equal", extent - 1))
        ]
        is_inside: Expr = tests[0]
        for test in tests[1:]:
            is_inside = relax("logical_and", is_inside, test)
        return relax("where", relax("expand_dims", is_inside, (4,)), found, scalar(0, "float32"))


def _deformable(call: RelayCall) -> Expr:
    if (call.text("data_layout"), call.text("kernel_layout"), call.int_("groups")) != ("NCHW", "OIHW", 1):
        raise untranslated(call, "only NCHW with OIHW and one group is")
    if dtype_of(call) != "float32":
        raise untranslated(call, "only float32 is")
    data, offset, weight = call.exprs
    batch, channels, height, width = (size(call, axis) for axis in range(4))
    filters, _, *window = (size(call, axis, 2) for axis in range(4))
    rows, columns = size(call, 2, 1), size(call, 3, 1)
    parts = call.int_("deformable_groups")
    count, taps = batch * parts, window[0] * window[1]
    images = relax("reshape", data, (count, channels // parts, height * width))
    stored = relax("reshape", relax("permute_dims", images, (0, 2, 1)), (count * height * width, channels // parts))
    moved = relax("reshape", offset, (count, taps, 2, rows, columns))
    y, x = (
        relax("add", relax("squeeze", relax("strided_slice", moved, (2,), (k,), (k + 1,)), (2,)), constant(place))
        for k, place in enumerate(_places(call, (rows, columns), (window[0], window[1])))
    )
    found = _interpolated(_Pixels(stored, count, height, width), y, x)
    shaped = relax("reshape", found, (batch, parts, taps, rows, columns, channels // parts))
    matrix = relax(
        "reshape", relax("permute_dims", shaped, (0, 3, 4, 1, 5, 2)), (batch, rows * columns, channels * taps)
    )
    kernel = relax("permute_dims", relax("reshape", weight, (filters, channels * taps)), (1, 0))
    result = relax("permute_dims", relax("matmul", matrix, kernel, call.dtype("out_dtype") or None), (0, 2, 1))
    return relax("reshape", result, (batch, filters, rows, columns))


def _places(
    call: RelayCall, counts: tuple[int, int], window: tuple[int, int]
) -> tuple["np.ndarray[tuple[int, ...], np.dtype[np.float32]]", ...]:
    """Return where the taps of the window lie without offsets: rows `(taps, rows, 1)`, columns `(taps, 1, columns)`."""
    strides, steps, before = ((call.ints(name) * 2)[:2] for name in ("strides", "dilation", "padding"))
    taps = np.array(list(product(range(window[0]), range(window[1]))))
    made = [(np.arange(counts[k]) * strides[k] - before[k])[None, :] + taps[:, k : k + 1] * steps[k] for k in (0, 1)]
    return made[0][:, :, None].astype("float32"), made[1][:, None, :].astype("float32")


def _interpolated(pixels: _Pixels, y: Expr, x: Expr) -> Expr:
    """Return the bilinear mean of the four pixels around each place; a place before the first pixel gives zero."""
    one, zero = scalar(1, "float32"), scalar(0, "float32")
    top, left = relax("floor", y), relax("floor", x)
    down, along = relax("subtract", y, top), relax("subtract", x, left)
    of_row = ((top, relax("subtract", one, down)), (relax("add", top, one), down))
    of_column = ((left, relax("subtract", one, along)), (relax("add", left, one), along))

    def part(row: tuple[Expr, Expr], column: tuple[Expr, Expr]) -> Expr:
        share = relax("expand_dims", relax("multiply", row[1], column[1]), (4,))
        return relax("multiply", pixels.at(row[0], column[0]), share)

    total = reduce(_sum, (part(row, column) for row, column in product(of_row, of_column)))
    is_inside = relax("logical_and", relax("greater_equal", y, zero), relax("greater_equal", x, zero))
    return relax("where", relax("expand_dims", is_inside, (4,)), total, zero)


def _sum(a: Expr, b: Expr) -> Expr:
    return relax("add", a, b)


_ATTRS = MappingProxyType({**convolution_attrs(2), "deformable_groups": 1})

SPECS = (op("nn.deformable_conv2d", "data offset weight", _deformable, _ATTRS, relation=_deformable_type),)
