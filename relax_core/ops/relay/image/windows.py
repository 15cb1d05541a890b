"""What is composed of windows: crops of images, dilation, transforms of a signal."""

from collections.abc import Callable
from functools import reduce
from itertools import product
from types import MappingProxyType

import numpy as np

from relax_core.ir.expr import Expr, TensorType, Type, constant
from relax_core.ir.prim import IntImm
from relax_core.ops.relay.dims import calculate, stored_axes, whole_axes
from relax_core.ops.relay.entry import op
from relax_core.ops.relay.nn.convolution import Window, ints_for, padding_of, window_count
from relax_core.ops.relay.spec import RelayCall
from relax_core.ops.relay.translation import cast, dtype_of, rank, relax, scalar, size, untranslated
from relax_core.ops.spec import REQUIRED

_CROP = MappingProxyType(
    {"crop_size": REQUIRED, "layout": "NCHW", "method": "bilinear", "extrapolation_value": 0.0, "out_dtype": ""}
)

_DILATION = MappingProxyType({
    "strides": (1, 1), "padding": (0, 0), "dilations": (1, 1), "data_layout": "NCHW", "kernel_layout": "IHW",
    "out_dtype": "",
})  # fmt: skip

_TO_NHWC, _TO_NCHW = (0, 2, 3, 1), (0, 3, 1, 2)


def _crop_type(call: RelayCall) -> Type:
    data, boxes, layout = call.tensor(0), call.dims(1), call.text("layout")
    dtype = call.dtype("out_dtype") or data.dtype
    if data.dims is None or not boxes:
        return TensorType(None, dtype)
    sizes = whole_axes(call, data.dims, layout)
    height, width = ints_for(call, "crop_size", 2)
    sizes.update(N=boxes[0], H=IntImm(height), W=IntImm(width))
    return TensorType(stored_axes(call, sizes, layout), dtype)


def _dilation_type(call: RelayCall) -> Type:
    data, kernel, layout = call.tensor(0), call.tensor(1), call.text("data_layout")
    if data.dims is None or kernel.dims is None:
        return TensorType(None, data.dtype)
    sizes, window = whole_axes(call, data.dims, layout), whole_axes(call, kernel.dims, call.text("kernel_layout"))
    strides, steps = ints_for(call, "strides", 2), ints_for(call, "dilations", 2)
    for letter, stride, pad, step in zip("HW", strides, padding_of(call, 2), steps, strict=True):
        sizes[letter] = window_count(call, sizes[letter], Window(window[letter], stride, pad, step), letter)
    return TensorType(stored_axes(call, sizes, layout), call.dtype("out_dtype") or data.dtype)


def _windowed_fourier(call: RelayCall) -> Expr:
    """Windows of the signal times matrices of cosines and sines."""
    data, window = call.exprs
    count, wide, dtype = size(call, -1), call.int_("win_length"), dtype_of(call)
    width, hop = call.int_("n_fft"), call.int_("hop_length")
    starts = np.arange(0, count - width + 1, hop)
    index = constant((starts[:, None] + np.arange(wide)).astype("int64"))
    frames = relax("multiply", relax("take", data, index, rank(call) - 1), window)
    frequencies = width // 2 + 1 if call.flag("onesided") else width
    angles = 2 * np.pi * np.outer(np.arange(wide), np.arange(frequencies)) / wide
    factor = 1 / np.sqrt(width) if call.flag("normalized") else 1.0
    parts = (np.cos(angles) * factor, -np.sin(angles) * factor)
    made = tuple(relax("matmul", frames, constant(part.astype(dtype))) for part in parts)
    order = (*range(rank(call) - 1), rank(call), rank(call) - 1)
    return relax("stack", tuple(relax("permute_dims", part, order) for part in made), -1)


def _dilation(call: RelayCall) -> Expr:
    """The greatest of the sums of the shifted image and the elements of the kernel; zeros surround the image."""
    layout = (call.text("data_layout"), call.text("kernel_layout"))
    if layout not in (("NCHW", "IHW"), ("NHWC", "HWI")):
        raise untranslated(call, f"the layouts are {layout[0]} and {layout[1]}, not NCHW and IHW or NHWC and HWI")
    data, kernel = call.exprs
    is_last = layout[0] == "NHWC"
    axes = (1, 2) if is_last else (2, 3)
    given = call.ints("padding")
    before, after = (given[:2], given[2:]) if len(given) == 4 else ((given * 2)[:2], (given * 2)[:2])
    widths = [0] * 8
    for axis, low, high in zip(axes, before, after, strict=True):
        widths[2 * axis], widths[2 * axis + 1] = low, high
    padded = relax("nn.pad", data, tuple(widths), "constant", 0.0)
    strides, steps = ((call.ints(name) * 2)[:2] for name in ("strides", "dilations"))
    kernel_axes = (0, 1) if is_last else (1, 2)
    window = tuple(size(call, axis, 1) for axis in kernel_axes)
    extents = tuple(size(call, axis) + low + high for axis, low, high in zip(axes, before, after, strict=True))
    counts = tuple((extents[k] - steps[k] * (window[k] - 1) - 1) // strides[k] + 1 for k in (0, 1))

    def part(place: tuple[int, ...]) -> Expr:
        begin = tuple(place[k] * steps[k] for k in (0, 1))
        end = tuple(begin[k] + (counts[k] - 1) * strides[k] + 1 for k in (0, 1))
        shifted = relax("strided_slice", padded, axes, begin, end, strides)
        weight = relax("strided_slice", kernel, kernel_axes, place, tuple(item + 1 for item in place))
        return relax("add", shifted, weight)

    return reduce(_of_two("maximum"), map(part, product(range(window[0]), range(window[1]))))


def _crop(call: RelayCall) -> Expr:
    """Pixels at computed places, looked up in the image as a list of pixels."""
    data, boxes, which = call.exprs
    layout, method = call.text("layout"), call.text("method")
    if layout not in ("NCHW", "NHWC") or method not in ("bilinear", "nearest_neighbor"):
        raise untranslated(call, f"the layout is {layout} and the method {method}")
    batch, height, width, channels = (size(call, layout.index(letter)) for letter in "NHWC")
    stored = data if layout == "NHWC" else relax("permute_dims", data, _TO_NHWC)
    pixels = relax("reshape", stored, (batch * height * width, channels))
    rows, columns = call.ints("crop_size")
    y = relax("expand_dims", _places(boxes, 0, height, rows), (2,))
    x = relax("expand_dims", _places(boxes, 1, width, columns), (1,))
    first = relax("expand_dims", relax("multiply", which, scalar(height * width, dtype_of(call, 2))), (1, 2))

    def at(row: Expr, column: Expr) -> Expr:
        inside = (_index(row, height, dtype_of(call, 2)), _index(column, width, dtype_of(call, 2)))
        place = relax("add", relax("multiply", inside[0], scalar(width, dtype_of(call, 2))), inside[1])
        return relax("take", pixels, relax("add", first, place), 0)

    if method == "bilinear":
        found = _interpolated(at, y, x)
    else:
        found = at(relax("round", y), relax("round", x))
    is_inside = reduce(_of_two("logical_and"), (*_within(y, height - 1), *_within(x, width - 1)))
    outside = scalar(call.number("extrapolation_value"), dtype_of(call))
    result = relax("where", relax("expand_dims", is_inside, (3,)), found, outside)
    result = result if layout == "NHWC" else relax("permute_dims", result, _TO_NCHW)
    dtype = call.dtype("out_dtype")
    return cast(result, dtype) if dtype and dtype != dtype_of(call) else result


def _of_two(name: str) -> Callable[[Expr, Expr], Expr]:
    return lambda a, b: relax(name, a, b)


def _places(boxes: Expr, axis: int, extent: int, count: int) -> Expr:
    """Return the places of a crop's pixels along one axis of the image: `(boxes, count)`."""
    low, high = (relax("strided_slice", boxes, (1,), (k,), (k + 1,)) for k in (axis, axis + 2))
    steps = np.arange(count) / (count - 1) if count > 1 else np.full(1, 0.5)
    along = constant((steps * (extent - 1)).astype("float32"))
    start = relax("multiply", low, scalar(extent - 1, "float32"))
    return relax("add", start, relax("multiply", relax("subtract", high, low), along))


def _index(place: Expr, extent: int, dtype: str) -> Expr:
    return cast(relax("clip", place, 0, extent - 1), dtype)


def _within(place: Expr, last: int) -> tuple[Expr, Expr]:
    return (
        relax("greater_equal", place, scalar(0, "float32")),
        relax("less_equal", place, scalar(last, "float32")),
    )


def _interpolated(at: Callable[[Expr, Expr], Expr], y: Expr, x: Expr) -> Expr:
    """Return the bilinear mean of the four pixels around each place."""
    top, left = relax("floor", y), relax("floor", x)
    bottom, right = relax("ceil", y), relax("ceil", x)
    down, along = (relax("expand_dims", relax("subtract", a, b), (3,)) for a, b in ((y, top), (x, left)))

    def between(a: Expr, b: Expr, share: Expr) -> Expr:
        return relax("add", a, relax("multiply", relax("subtract", b, a), share))

    upper = between(at(top, left), at(top, right), along)
    lower = between(at(bottom, left), at(bottom, right), along)
    return between(upper, lower, down)


def _windowed_fourier_type(call: RelayCall) -> Type:
    """Relation: `(*batch, n)` becomes `(*batch, frequencies, windows, 2)`."""
    data = call.tensor()
    if not data.dims:
        return data
    width = call.int_("n_fft")
    frequencies = width // 2 + 1 if call.flag("onesided") else width
    windows = calculate("+", calculate("//", calculate("-", data.dims[-1], width), call.positive("hop_length")), 1)
    return TensorType((*data.dims[:-1], IntImm(frequencies), windows, IntImm(2)), data.dtype)


SPECS = (
    op("image.crop_and_resize", "data boxes box_indices", _crop, _CROP, relation=_crop_type),
    op("image.dilation2d", "data weight", _dilation, _DILATION, relation=_dilation_type),
    op("stft", "data window", _windowed_fourier,
       {"n_fft": REQUIRED, "hop_length": REQUIRED, "win_length": REQUIRED, "normalized": False, "onesided": True},
       relation=_windowed_fourier_type),
)  # fmt: skip
