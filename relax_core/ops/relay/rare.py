"""Relations of operators that few programs have: packed bits, sparse tensors, Fourier transforms, tuned layouts.

See: tvm/src/relay/op, release 0.19, the last one that has Relay.
"""

import re

from relax_core.ir.prim import AnyDim, IntImm, PrimExpr
from relax_core.ir.types import TensorType, TupleType, Type
from relax_core.ops.relay.dims import calculate, dims_of, normal_axis, replaced, size, stored_axes, whole_axes
from relax_core.ops.relay.spec import RelayCall

_SIZED_AXIS = re.compile(r"(\d+)[A-Za-z]")


def _bits(dtype: str) -> int:
    return int(re.sub(r"\D", "", dtype) or 0)


def _positive(call: RelayCall, name: str) -> int:
    value = call.int_(name)
    if value < 1:
        raise call.refuse(f"expects a positive integer as `{name}`, got {value}", code="RY010")
    return value


def _two(call: RelayCall, name: str) -> tuple[int, int]:
    values = call.ints(name)
    if len(values) != 2 or min(values) < 1:
        raise call.refuse(f"expects two positive integers as `{name}`, got {list(values)}", code="RY010")
    return values[0], values[1]


def _rows(call: RelayCall) -> PrimExpr:
    """Return the number of rows of a sparse matrix, whose argument 3 says where each one starts, and the last ends."""
    starts = call.dims(3)
    return calculate("-", starts[0], 1) if starts else AnyDim()


def sparse_convolution(call: RelayCall) -> Type:
    """Relation: the channels become the rows of the sparse weight, in blocks if its values have rank 3 or more."""
    data, values = call.tensor(), call.dims(1)
    if data.dims is None or not values:
        return TensorType(None, data.dtype)
    rows = _rows(call)
    channels = rows if len(values) == 1 else calculate("*", rows, values[1])
    layout = call.text("layout")
    axes = whole_axes(call, data.dims, layout)
    return TensorType(stored_axes(call, {**axes, "C": channels}, layout), data.dtype)


def packed_dense(call: RelayCall) -> Type:
    """Relation: `(*b, k)` becomes `(*b, units)`, whatever the bits of the operands."""
    data = call.tensor()
    dims = None if not data.dims else (*data.dims[:-1], IntImm(call.int_("units")))
    return TensorType(dims, call.dtype("out_dtype") or data.dtype)


def packed_convolution(call: RelayCall) -> Type:
    """Relation: a convolution whose sizes are those of the attributes; it has neither dilation nor groups."""
    data, layout = call.tensor(), call.text("data_layout")
    dtype = call.dtype("out_dtype") or data.dtype
    if data.dims is None:
        return TensorType(None, dtype)
    axes = whole_axes(call, data.dims, layout)
    kernel, strides, padding = _two(call, "kernel_size"), _two(call, "strides"), call.ints("padding")
    axes["C"] = IntImm(call.int_("channels"))
    for k, letter in enumerate("HW"):
        total = calculate("-", calculate("+", axes[letter], _both_sides(padding, k)), kernel[k])
        axes[letter] = calculate("+", calculate("//", total, strides[k]), 1)
    return TensorType(stored_axes(call, axes, layout), dtype)


def _both_sides(padding: tuple[int, ...], axis: int) -> int:
    match padding:
        case (every,):
            return 2 * every
        case (height, width):
            return 2 * (height, width)[axis]
        case (top, left, bottom, right):
            return (top + bottom, left + right)[axis]
        case _:
            return 0


def bitpack(call: RelayCall) -> Type:
    """Relation: an axis shrinks by the bits of the packed type, and a new one has an element per bit."""
    data = call.tensor()
    if data.dims is None:
        return TensorType(None, call.text("pack_type"))
    axis = normal_axis(call, call.int_("pack_axis"), len(data.dims))
    packed = calculate("//", data.dims[axis], _bits(call.text("pack_type")))
    dims = replaced(data.dims, axis, packed)
    place = normal_axis(call, call.int_("bit_axis"), len(data.dims) + 1)
    return TensorType((*dims[:place], IntImm(call.int_("bits")), *dims[place:]), call.text("pack_type"))


def correlation(call: RelayCall) -> Type:
    """Relation: a channel per displacement within `max_displacement`, in steps of `stride2`."""
    data, layout = call.tensor(), call.text("layout")
    if data.dims is None:
        return data
    axes = whole_axes(call, data.dims, layout)
    reach = call.int_("max_displacement")
    border = reach + (call.int_("kernel_size") - 1) // 2
    step = _positive(call, "stride1")
    axes["C"] = IntImm((2 * (reach // _positive(call, "stride2")) + 1) ** 2)
    for k, letter in enumerate("HW"):
        inner = calculate("-", calculate("+", axes[letter], _both_sides(call.ints("padding"), k)), 2 * border)
        axes[letter] = calculate("//", calculate("+", inner, step - 1), step)
    return TensorType(stored_axes(call, axes, layout), data.dtype)


def _tiles(dim: PrimExpr, tile: int) -> PrimExpr:
    return calculate("//", calculate("+", dim, tile - 1), tile)


def gemm_weight(call: RelayCall) -> Type:
    """Relation: `(h, w, i, o)` becomes `(tiles of o, tiles of h * w * i, tile_N, tile_K)`."""
    weight = call.tensor()
    rows, columns = call.int_("tile_N"), call.int_("tile_K")
    if weight.dims is None or len(weight.dims) != 4 or rows < 1 or columns < 1:
        return TensorType(None, weight.dtype)
    height, width, inner, out = weight.dims
    whole = calculate("*", calculate("*", height, width), inner)
    return TensorType((_tiles(out, rows), _tiles(whole, columns), *dims_of(rows, columns)), weight.dtype)


def nnpack_weight(call: RelayCall) -> Type:
    """Relation: a weight `(o, i, 3, 3)` becomes `(o, i, 8, 8)`."""
    weight = call.tensor()
    dtype = call.dtype("out_dtype") or weight.dtype
    if weight.dims is None:
        return TensorType(None, dtype)
    if len(weight.dims) != 4 or {size(dim) for dim in weight.dims[2:]} - {3, None}:
        raise call.refuse("expects a weight with a window of 3 by 3")
    return TensorType((*weight.dims[:2], *dims_of(8, 8)), dtype)


def convolution_weight_gradient(call: RelayCall) -> Type:
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


def sized_layout(call: RelayCall) -> Type:
    """Relation: the sizes that `dst_layout` says before its letters, such as "1N16h16w3c"."""
    found = _SIZED_AXIS.findall(call.text("dst_layout"))
    return TensorType(dims_of(*map(int, found)), call.tensor().dtype)


def mapped_layout(call: RelayCall) -> Type:
    """Relation: what the index map makes of the sizes, which only TVM's own object knows."""
    return TensorType(None, call.tensor().dtype)


def filled_rows(call: RelayCall) -> Type:
    """Relation: indices and values with an entry for each empty row, and whether a row was empty."""
    indices, values = call.tensor(0), call.tensor(1)
    rank = indices.dims[1] if indices.dims and len(indices.dims) > 1 else AnyDim()
    return TupleType((
        TensorType((AnyDim(), rank), indices.dtype),
        TensorType((AnyDim(),), values.dtype),
        TensorType((AnyDim(),), "bool"),
    ))  # fmt: skip


def sparse_reshape(call: RelayCall) -> Type:
    """Relation: the indices in the new shape, and that shape."""
    indices, shape = call.tensor(0), call.tensor(2)
    if not indices.dims or not shape.dims:
        return TupleType((TensorType(None, indices.dtype), shape))
    return TupleType((TensorType((indices.dims[0], shape.dims[0]), indices.dtype), shape))


def best_boxes(call: RelayCall) -> Type:
    """Relation: boxes, classes, scores and their number, for each image of the batch."""
    boxes, scores = call.tensor(0), call.tensor(1)
    batch = boxes.dims[0] if boxes.dims else AnyDim()
    count = IntImm(call.int_("max_detections"))
    return TupleType((
        TensorType((batch, count, IntImm(4)), boxes.dtype),
        TensorType((batch, count), scores.dtype),
        TensorType((batch, count), scores.dtype),
        TensorType((batch,), scores.dtype),
    ))  # fmt: skip


def fourier(call: RelayCall) -> Type:
    """Relation: the real and the imaginary part, each like its argument."""
    return TupleType((call.tensor(0), call.tensor(1)))


def windowed_fourier(call: RelayCall) -> Type:
    """Relation: `(*batch, n)` becomes `(*batch, frequencies, windows, 2)`."""
    data = call.tensor()
    if not data.dims:
        return data
    width = call.int_("n_fft")
    frequencies = width // 2 + 1 if call.flag("onesided") else width
    windows = calculate("+", calculate("//", calculate("-", data.dims[-1], width), _positive(call, "hop_length")), 1)
    return TensorType((*data.dims[:-1], IntImm(frequencies), windows, IntImm(2)), data.dtype)
