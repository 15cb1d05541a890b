"""Relay's operators that read, write or count elements by index."""

from dataclasses import replace
from types import MappingProxyType

import numpy as np

from relax_core.ir.expr import Expr, TensorType, Type, constant
from relax_core.ir.prim import AnyDim, IntImm, PrimExpr
from relax_core.ops.operands import replaced
from relax_core.ops.relay.dims import calculate, is_same, normal_axis
from relax_core.ops.relay.entry import op
from relax_core.ops.relay.show import show_dim, show_type
from relax_core.ops.relay.spec import RelayCall
from relax_core.ops.relay.tensor.elementwise import identity
from relax_core.ops.relay.translation import (
    Rule,
    axis_of,
    cast,
    counted,
    dims,
    dtype_of,
    extent,
    fields,
    inserted,
    is_sized,
    moved,
    rank,
    relax,
    scalar,
    size,
    untranslated,
    vector,
)
from relax_core.ops.spec import REQUIRED

_REDUCTIONS = MappingProxyType(
    {"update": "update", "add": "add", "mul": "mul", "min": "min", "max": "max", "mean": "mean"}
)


def _one_hot_type(call: RelayCall) -> Type:
    indices, depth = call.dims(0), IntImm(call.int_("depth"))
    dtype = call.dtype() or call.tensor(1).dtype
    if indices is None:
        return TensorType(None, dtype)
    axis = call.int_("axis")
    place = len(indices) if axis == -1 else normal_axis(call, axis, len(indices) + 1)
    return TensorType((*indices[:place], depth, *indices[place:]), dtype)


def _argwhere_type(call: RelayCall) -> Type:
    dims = call.dims()
    return TensorType((AnyDim(), AnyDim() if dims is None else IntImm(len(dims))), "int32")


def _fifo_type(call: RelayCall) -> Type:
    return call.tensor(1)


def _take_type(call: RelayCall) -> Type:
    data, indices = call.tensor(0), call.tensor(1)
    if call.attrs.get("axis") is None:
        return replace(indices, dtype=data.dtype)
    if data.dims is None or indices.dims is None:
        return TensorType(None, data.dtype)
    axis = normal_axis(call, call.int_("axis"), len(data.dims))
    batch = call.int_("batch_dims")
    return TensorType(replaced(data.dims, axis, *indices.dims[batch:]), data.dtype)


def _take(call: RelayCall) -> Expr:
    if call.int_("batch_dims"):
        raise untranslated(call, "Relax takes without batch dimensions")
    data, indices = call.exprs
    mode = call.text("mode")
    if call.attrs.get("axis") is None:
        flat = data if rank(call) == 1 else relax("flatten", data)
        return relax("take", flat, indices, 0, mode)
    return relax("take", data, indices, axis_of(call), mode)


def _gather(call: RelayCall) -> Expr:
    return relax("gather_elements", *call.exprs, axis_of(call))


def _indices_last(call: RelayCall) -> Expr:
    """Relay has the coordinates along the first axis of the indices, Relax along the last."""
    count = rank(call, 1)
    return moved(call.exprs[1], count, 0, count - 1)


def _gather_nd(call: RelayCall) -> Expr:
    return relax("gather_nd", call.exprs[0], cast(_indices_last(call), "int64"), call.int_("batch_dims"))


def _reduction(call: RelayCall, name: str) -> str:
    found = _REDUCTIONS.get(call.text(name))
    if found is None:
        raise untranslated(call, f"there is no reduction {call.text(name)}")
    return found


def _scatter(reduction: str) -> Rule:
    def rule(call: RelayCall) -> Expr:
        how = reduction or _reduction(call, "reduction")
        return relax("scatter_elements", *call.exprs, axis_of(call), how)

    return rule


def _scatter_nd(call: RelayCall) -> Expr:
    data, _, updates = call.exprs
    return relax("scatter_nd", data, cast(_indices_last(call), "int64"), updates, _reduction(call, "mode"))


def hot(call: RelayCall, depth: Expr) -> Expr:
    """Compare the indices with the positions along an axis, which `depth` holds, and choose."""
    indices, on, off = call.exprs[:3]
    count = rank(call)
    axis = call.int_("axis")
    axis = axis + count + 1 if axis < 0 else axis
    positions = inserted(cast(depth, dtype_of(call)), tuple(range(1, count + 1 - axis)))
    chosen = relax("where", relax("equal", relax("expand_dims", indices, (axis,)), positions), on, off)
    dtype = call.dtype()
    return cast(chosen, dtype) if dtype and dtype != dtype_of(call, 1) else chosen


def _one_hot(call: RelayCall) -> Expr:
    return hot(call, vector(tuple(range(call.int_("depth")))))


def sequence_mask(call: RelayCall) -> Expr:
    """Positions along the axis of time that a sequence of the batch does not reach get the value of the mask."""
    data, lengths = call.exprs
    axis, count = axis_of(call), rank(call)
    positions = vector(tuple(range(size(call, axis))), dtype_of(call, 1))
    is_inside = relax("less", relax("expand_dims", positions, (1 - axis,)), relax("expand_dims", lengths, (axis,)))
    is_inside = inserted(is_inside, tuple(range(2, count)))
    return relax("where", is_inside, data, scalar(call.number("mask_value"), dtype_of(call)))


def _adv_index(call: RelayCall) -> Expr:
    if not call.tensors():
        raise call.refuse("expects the data and its indices")
    data, *indices = fields(call)
    return relax("index_tensor", data, tuple(indices))


def _argwhere(call: RelayCall) -> Expr:
    return cast(relax("permute_dims", relax("nonzero", call.exprs[0])), "int32")


def _unravel_index(call: RelayCall) -> Expr:
    """Divide by the product of the sizes behind each axis, and keep what is less than the size of the axis."""
    places, sizes = call.exprs
    dtype = dtype_of(call)
    sizes = cast(sizes, dtype)
    behind = relax("flip", relax("cumprod", relax("flip", sizes, 0), 0, dtype, True), 0)
    axes = tuple(range(1, rank(call) + 1))
    whole = relax("floor_divide", relax("expand_dims", places, (0,)), inserted(behind, axes))
    return relax("floor_mod", whole, inserted(sizes, axes))


def _sparse_to_dense(call: RelayCall) -> Expr:
    """Write the values into a tensor of the default value."""
    indices, values, *default = call.exprs
    dtype = dtype_of(call, 1)
    whole = relax("full", call.ints("output_shape"), default[0] if default else scalar(0, dtype), dtype)
    if rank(call) < 2:
        indices = relax("reshape", indices, (-1, 1) if rank(call) == 1 else (1, 1))
    if rank(call, 1) == 0:
        values = relax("broadcast_to", values, (1 if rank(call) == 0 else size(call, 0),))
    return relax("scatter_nd", whole, cast(indices, "int64"), values)


def _fifo_buffer(call: RelayCall) -> Expr:
    data, buffer = call.exprs
    axis = axis_of(call)
    joined = relax("concat", (buffer, data), axis)
    added, kept = dims(call)[axis], dims(call, 1)[axis]
    return relax("strided_slice", joined, (axis,), (added,), (calculate("+", added, kept),))


def _einsum(call: RelayCall) -> Expr:
    return relax("einsum", fields(call), call.text("equation"))


def _einsum_type(call: RelayCall) -> Type:
    """Relation: the sizes of the letters behind `->`, or of those that occur once, in the order of the alphabet."""
    tensors, equation = call.tensors(), call.text("equation").replace(" ", "")
    inputs, arrow, output = equation.partition("->")
    if "." in equation or len(inputs.split(",")) != len(tensors):
        return TensorType(None, tensors[0].dtype if tensors else None)
    sizes: dict[str, PrimExpr] = {}
    for letters, tensor in zip(inputs.split(","), tensors, strict=True):
        if tensor.dims is not None and len(letters) != len(tensor.dims):
            raise call.refuse(f'names {len(letters)} axes by "{letters}", but the operand is {show_type(tensor)}')
        for letter, dim in zip(letters, tensor.dims or (), strict=False):
            if letter in sizes and is_same(sizes[letter], dim) is False:
                raise call.refuse(f"has {show_dim(sizes[letter])} and {show_dim(dim)} as the size of {letter}")
            sizes.setdefault(letter, dim)
    names = output if arrow else sorted(item for item in set(inputs) if inputs.count(item) == 1 and item != ",")
    if any(item not in sizes for item in names):
        return TensorType(None, tensors[0].dtype)
    return TensorType(tuple(sizes[item] for item in names), tensors[0].dtype)


def _masked_sequence(call: RelayCall) -> Expr:
    if is_sized(call):
        return sequence_mask(call)
    axis, count = axis_of(call), rank(call)
    positions = cast(counted(extent(call, axis)), dtype_of(call, 1))
    is_inside = relax(
        "less", relax("expand_dims", positions, (1 - axis,)), relax("expand_dims", call.exprs[1], (axis,))
    )
    return relax("where", inserted(is_inside, tuple(range(2, count))), call.exprs[0],
                 scalar(call.number("mask_value"), dtype_of(call)))  # fmt: skip


def _dynamic_matrix_set_diag(call: RelayCall) -> Expr:
    """Diagonal by diagonal, each element is its own or that of the diagonal which it stands on."""
    if is_sized(call) and is_sized(call, 1):
        return _matrix_set_diag(call)
    data, diagonal = call.exprs
    low, high, count = call.int_("k1"), call.int_("k2"), rank(call)
    rows, columns = extent(call, count - 2), extent(call, count - 1)
    i, j = relax("expand_dims", counted(rows), (1,)), counted(columns)
    offset = relax("subtract", j, i)
    longest = extent(call, rank(call, 1) - 1, 1)
    value = data
    for k in range(low, high + 1):
        band = diagonal
        if rank(call, 1) == count:
            at = high - k
            band = relax("squeeze", relax("strided_slice", diagonal, (count - 2,), (at,), (at + 1,)), (count - 2,))
        length = relax("minimum", relax("add", rows, vector((min(k, 0),))),
                       relax("subtract", columns, vector((max(k, 0),))))  # fmt: skip
        place = relax("minimum", i, j)
        is_right = (k >= 0 and call.flag("super_diag_right_align")) or (k <= 0 and call.flag("sub_diag_right_align"))
        if is_right:
            place = relax("add", place, relax("subtract", longest, length))
        chosen = relax("take", band, place, count - 2, "clip")
        value = relax("where", relax("equal", offset, scalar(k, "int64")), chosen, value)
    return value


def _matrix_set_diag(call: RelayCall) -> Expr:
    """Each element of the matrix is its own or one of the diagonals', of which a constant says which."""
    data, diagonal = call.exprs
    low, high = call.int_("k1"), call.int_("k2")
    rows, columns = size(call, -2), size(call, -1)
    longest = size(call, -1, 1)
    batch = tuple(size(call, axis) for axis in range(rank(call) - 2))
    i, j = np.indices((rows, columns))
    offset = j - i
    is_set = (offset >= low) & (offset <= high)
    length = np.minimum(rows + np.minimum(offset, 0), columns - np.maximum(offset, 0))
    above, below = call.flag("super_diag_right_align"), call.flag("sub_diag_right_align")
    is_right = ((offset >= 0) & above) | ((offset <= 0) & below)
    place = np.minimum(i, j) + np.where(is_right, longest - length, 0)
    index = np.where(is_set, (high - offset) * longest + place, 0).reshape(-1)
    flat = relax("reshape", diagonal, (*batch, (high - low + 1) * longest))
    chosen = relax("take", flat, constant(index.astype("int64")), len(batch))
    shown = relax("reshape", chosen, (*batch, rows, columns))
    return relax("where", constant(is_set), shown, data)


_DIAGONALS = MappingProxyType({"k1": 0, "k2": 0, "super_diag_right_align": True, "sub_diag_right_align": False})

SPECS = (
    op("take", "data indices", _take, {"axis": None, "mode": "clip", "batch_dims": 0}, relax="take",
       relation=_take_type),
    op("gather", "data indices", _gather, {"axis": REQUIRED}, relax="gather_elements"),
    op("gather_nd", "data indices", _gather_nd, {"batch_dims": 0, "index_rank": None}, relax="gather_nd"),
    op("scatter_elements", "data indices updates", _scatter(""), {"axis": 0, "reduction": "update"},
       relax="scatter_elements", relation=identity),
    op("scatter", "data indices updates", _scatter("update"), {"axis": 0}, relax="scatter_elements",
       relation=identity),
    op("scatter_add", "data indices updates", _scatter("add"), {"axis": 0}, relax="scatter_elements",
       relation=identity),
    op("scatter_nd", "data indices updates", _scatter_nd, {"mode": "update"}, relax="scatter_nd", relation=identity),
    op("one_hot", "indices on_value off_value", _one_hot, {"depth": REQUIRED, "axis": -1, "dtype": ""},
       relax="one_hot", relation=_one_hot_type),
    op("sequence_mask", "data valid_length", _masked_sequence, {"mask_value": 0.0, "axis": 0}, relation=identity),
    op("matrix_set_diag", "input diagonal", _dynamic_matrix_set_diag, _DIAGONALS, relation=identity),
    op("adv_index", "inputs", _adv_index, relax="index_tensor"),
    op("argwhere", "condition", _argwhere, relax="nonzero", relation=_argwhere_type),
    op("unravel_index", "data shape", _unravel_index),
    op("sparse_to_dense", "sparse_indices sparse_values default_value?", _sparse_to_dense,
       {"output_shape": REQUIRED}, relax="scatter_nd"),
    op("nn.fifo_buffer", "data buffer", _fifo_buffer, {"axis": 0}, relation=_fifo_type),
    op("einsum", "data", _einsum, {"equation": REQUIRED}, relax="einsum", relation=_einsum_type),
)  # fmt: skip
