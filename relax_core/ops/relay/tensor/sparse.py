"""Sparse tensors: rows that are compressed become a dense matrix, places in one shape those in another."""

from relax_core.ir.expr import Expr, TensorType, Tuple, TupleType, Type
from relax_core.ir.prim import AnyDim, PrimExpr
from relax_core.ops.relay.dims import (
    calculate,
    stored_axes,
    whole_axes,
)
from relax_core.ops.relay.entry import op
from relax_core.ops.relay.spec import RelayCall
from relax_core.ops.relay.tensor.elementwise import identity
from relax_core.ops.relay.translation import (
    cast,
    counted,
    dtype_of,
    rank,
    relax,
    scalar,
    size,
    untranslated,
    vector,
)

_MANY = 2**62
"""More than there are elements."""


def _sparse_dense_type(call: RelayCall) -> Type:
    """Relation: `(n, k)` with a sparse `(m, k)` weight is `(n, m)`; blocks of `bs` rows make m larger."""
    data, values, starts = call.tensor(0), call.tensor(1), call.tensor(3)
    if values.dims is None or not starts.dims or not data.dims:
        return TensorType(None, data.dtype)
    rows = calculate("-", starts.dims[0], 1)
    count = rows if len(values.dims) == 1 else calculate("*", rows, values.dims[1])
    pair = (count, data.dims[1]) if call.flag("sparse_lhs") else (data.dims[0], count)
    return TensorType(pair, data.dtype)


def _rows(call: RelayCall) -> PrimExpr:
    """Return the number of rows of a sparse matrix, whose argument 3 says where each one starts, and the last ends."""
    starts = call.dims(3)
    return calculate("-", starts[0], 1) if starts else AnyDim()


def _sparse_convolution_type(call: RelayCall) -> Type:
    """Relation: the channels become the rows of the sparse weight, in blocks if its values have rank 3 or more."""
    data, values = call.tensor(), call.dims(1)
    if data.dims is None or not values:
        return TensorType(None, data.dtype)
    rows = _rows(call)
    channels = rows if len(values) == 1 else calculate("*", rows, values[1])
    layout = call.text("layout")
    axes = whole_axes(call, data.dims, layout)
    return TensorType(stored_axes(call, {**axes, "C": channels}, layout), data.dtype)


def _filled_rows_type(call: RelayCall) -> Type:
    """Relation: indices and values with an entry for each empty row, and whether a row was empty."""
    indices, values = call.tensor(0), call.tensor(1)
    rank = indices.dims[1] if indices.dims and len(indices.dims) > 1 else AnyDim()
    return TupleType((
        TensorType((AnyDim(), rank), indices.dtype),
        TensorType((AnyDim(),), values.dtype),
        TensorType((AnyDim(),), "bool"),
    ))  # fmt: skip


def _sparse_reshape_type(call: RelayCall) -> Type:
    """Relation: the indices in the new shape, and that shape."""
    indices, shape = call.tensor(0), call.tensor(2)
    if not indices.dims or not shape.dims:
        return TupleType((TensorType(None, indices.dtype), shape))
    return TupleType((TensorType((indices.dims[0], shape.dims[0]), indices.dtype), shape))


def _entry_rows(call: RelayCall, starts: int, count: int) -> Expr:
    """Return in which row each of `count` entries stands: as many rows start before or at it, less one."""
    places = cast(vector(tuple(range(count))), dtype_of(call, starts))
    found = relax("bucketize", places, call.exprs[starts], True, True)
    return relax("subtract", found, scalar(1, "int32"))


def _whole(call: RelayCall, first: int, columns: int) -> Expr:
    """Return the matrix of which arguments `first` and the two behind it hold the entries, the columns, the starts.

    Entries may be blocks; entries at one place add up.
    """
    entries, inner = call.exprs[first], call.exprs[first + 1]
    count, rows = size(call, 0, first), size(call, 0, first + 2) - 1
    block = tuple(size(call, axis, first) for axis in range(1, rank(call, first)))
    if len(block) not in (0, 2):
        raise untranslated(call, f"the entries have rank {len(block) + 1}, not 1, or 3 for blocks")
    height, width = block or (1, 1)
    place = relax("stack", (_entry_rows(call, first + 2, count), cast(inner, "int32")), 1)
    dtype = dtype_of(call, first)
    empty = relax("zeros", (rows, columns // width, *block), dtype)
    filled = relax("scatter_nd", empty, cast(place, "int64"), entries, "add")
    if not block:
        return filled
    return relax("reshape", relax("permute_dims", filled, (0, 2, 1, 3)), (rows * height, columns))


def _sparse_dense(call: RelayCall) -> Expr:
    data, columns = call.exprs[0], size(call, 1)
    matrix = _whole(call, 1, columns)
    if not call.flag("sparse_lhs"):
        return relax("matmul", data, relax("permute_dims", matrix))
    if size(call, 0) != columns:
        raise untranslated(call, "with a sparse left operand the other must be square")
    return relax("matmul", matrix, relax("permute_dims", data))


def _sparse_add(call: RelayCall) -> Expr:
    return relax("add", call.exprs[0], _whole(call, 1, size(call, 1)))


def _sparse_transpose(call: RelayCall) -> Expr:
    """Order the entries by their columns, those of one column by their rows; the matrix is square."""
    entries, inner, starts = call.exprs
    count, rows = size(call, 0), size(call, 0, 2) - 1
    if rank(call) != 1:
        raise untranslated(call, f"the entries have rank {rank(call)}, not 1")
    wide = cast(inner, "int64")
    key = relax("add", relax("multiply", wide, scalar(max(count, 1), "int64")), vector(tuple(range(count))))
    order = relax("argsort", key, 0, False, "int64")
    columns = cast(relax("take", wide, order, 0), dtype_of(call, 2))
    bounds = cast(vector(tuple(range(rows + 1))), dtype_of(call, 2))
    begins = cast(relax("bucketize", bounds, columns, True, False), dtype_of(call, 2))
    inner_rows = cast(relax("take", _entry_rows(call, 2, count), order, 0), dtype_of(call, 1))
    assert starts is call.exprs[2], "the starts are read by argument"
    return Tuple((relax("take", entries, order, 0), inner_rows, begins))


def _element(values: Expr, place: int) -> Expr:
    return relax("reshape", relax("strided_slice", values, (0,), (place,), (place + 1,)), ())


def _sparse_reshape(call: RelayCall) -> Expr:
    """Count the elements before each place, and read the count in the other shape; a -1 there is worked out."""
    places, before, after = call.exprs
    dtype = dtype_of(call)
    before, wanted = cast(before, dtype), cast(after, dtype)
    if rank(call) != 2:
        raise untranslated(call, "the places must be the rows of a matrix")
    known = relax("abs", relax("prod", wanted))
    free = relax("floor_divide", relax("prod", before), known)
    shape = relax("where", relax("equal", wanted, scalar(-1, dtype)), free, wanted)
    at: Expr = scalar(0, dtype)
    for axis in range(size(call, 0, 1)):
        column = relax("squeeze", relax("strided_slice", places, (1,), (axis,), (axis + 1,)), (1,))
        at = relax("add", relax("multiply", at, _element(before, axis)), column)
    columns: list[Expr] = []
    for axis in reversed(range(size(call, 0, 2))):
        extent = _element(shape, axis)
        columns.insert(0, relax("floor_mod", at, extent))
        at = relax("floor_divide", at, extent)
    return Tuple((relax("stack", tuple(columns), 1), cast(shape, dtype_of(call, 2))))


def unique(call: RelayCall) -> Expr:
    """The elements that differ, the first place of each, which of them each element is, and how many there are.

    What is behind the last of them is zero. In the order of the first places if they are not sorted.
    """
    if rank(call) != 1:
        raise untranslated(call, f"the elements have rank {rank(call)}, not 1")
    data = call.exprs[0]
    order = relax("argsort", data, 0, False, "int64")
    ordered = relax("take", data, order, 0)
    behind, before = ((1,), (_MANY,)), ((0,), (-1,))
    is_next = relax("not_equal", *(relax("strided_slice", ordered, (0,), *ends) for ends in (behind, before)))
    steps = relax("concat", (vector((0,)), cast(is_next, "int64")), 0)
    group = relax("cumsum", steps, 0, "int64")
    none = relax("zeros_like", order)
    first = relax("scatter_elements", relax("full_like", order, scalar(_MANY, "int64")), group, order, 0, "min")
    if not call.flag("sorted"):
        by_place = relax("argsort", first, 0, False, "int64")
        group = relax("take", relax("argsort", by_place, 0, False, "int64"), group, 0)
        first = relax("take", first, by_place, 0)
    found = relax("scatter_elements", relax("zeros_like", data), group, ordered, 0, "update")
    inverse = relax("scatter_elements", none, order, group, 0, "update")
    total = relax("add", relax("max", group, (0,), True), vector((1,)))
    shown = relax("where", relax("less", first, scalar(_MANY, "int64")), first, scalar(0, "int64"))
    parts = [found, *(cast(item, "int32") for item in (shown, inverse, total))]
    if call.flag("return_counts"):
        ones = relax("ones_like", order)
        parts.append(cast(relax("scatter_elements", none, group, ones, 0, "add"), "int32"))
    return Tuple(tuple(parts))


def _filled_rows(call: RelayCall) -> Expr:
    """Give each row without entries one in its first column, of the default value, and order all by their rows."""
    places, values, shape, default = call.exprs
    dtype, count = dtype_of(call), size(call, 1)
    rows = relax("squeeze", relax("strided_slice", cast(places, "int64"), (1,), (0,), (1,)), (1,))
    every = counted(relax("strided_slice", cast(shape, "int64"), (0,), (0,), (1,)))
    is_of = relax("equal", relax("expand_dims", every, (1,)), relax("expand_dims", rows, (0,)))
    is_empty = relax("less", relax("sum", cast(is_of, "int64"), (1,)), scalar(1, "int64"))
    empty = relax("squeeze", relax("nonzero", is_empty), (0,))
    column = relax("expand_dims", empty, (1,))
    added = relax("concat", (column, relax("multiply", column, vector((0,) * (count - 1)))), 1) if count > 1 else column
    fill = relax("add", cast(relax("zeros_like", empty), dtype_of(call, 1)), default)
    order = relax("argsort", relax("concat", (rows, empty), 0), 0, False, "int64")
    return Tuple(
        (
            relax("take", relax("concat", (places, cast(added, dtype)), 0), order, 0),
            relax("take", relax("concat", (values, fill), 0), order, 0),
            is_empty,
        )
    )


def _sparse_convolution(call: RelayCall) -> Expr:
    """A window of one element multiplies the channels of every pixel."""
    layout = call.text("layout")
    if call.ints("kernel_size") not in ((1, 1), (1,)) or layout not in ("NHWC", "NCHW"):
        raise untranslated(call, "a window of more than one element, or a layout other than NHWC and NCHW")
    matrix = relax("permute_dims", _whole(call, 1, size(call, layout.index("C"))))
    if layout == "NHWC":
        return relax("matmul", call.exprs[0], matrix)
    made = relax("matmul", relax("permute_dims", call.exprs[0], (0, 2, 3, 1)), matrix)
    return relax("permute_dims", made, (0, 3, 1, 2))


def _sparse_transpose_type(call: RelayCall) -> Type:
    return TupleType(tuple(map(call.tensor, range(3))))


_COMPRESSED = "data weight_data weight_indices weight_indptr"

SPECS = (
    *(op(name, _COMPRESSED, _sparse_dense, {"sparse_lhs": False}, relation=_sparse_dense_type)
      for name in ("nn.sparse_dense", "nn.internal.sparse_dense_padded")),
    op("nn.sparse_transpose", "sparse_data sparse_indices sparse_indptr", _sparse_transpose,
       relation=_sparse_transpose_type),
    op("nn.sparse_add", "dense_data sparse_data sparse_indices sparse_indptr", _sparse_add, relation=identity),
    op("nn.sparse_conv2d", _COMPRESSED, _sparse_convolution, {"layout": "NHWC", "kernel_size": (1, 1)},
       relation=_sparse_convolution_type),
    op("sparse_fill_empty_rows", "sparse_indices sparse_values dense_shape default_value", _filled_rows,
       relation=_filled_rows_type),
    op("sparse_reshape", "sparse_indices prev_shape new_shape", _sparse_reshape, relation=_sparse_reshape_type),
)  # fmt: skip
