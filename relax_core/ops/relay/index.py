"""Relay's operators that pick, write or count elements by index."""

from dataclasses import replace
from types import MappingProxyType

from relax_core.ir.prim import AnyDim, IntImm, PrimExpr
from relax_core.ir.types import Dims, TensorType, TupleType, Type
from relax_core.ops.relay.dims import broadcast, dims_of, normal_axis, replaced, size
from relax_core.ops.relay.elementwise import identity
from relax_core.ops.relay.rare import filled_rows, sparse_reshape
from relax_core.ops.relay.show import show_dims, show_type
from relax_core.ops.relay.spec import RelayCall, op
from relax_core.ops.spec import REQUIRED


def _take(call: RelayCall) -> Type:
    data, indices = call.tensor(0), call.tensor(1)
    if call.attrs.get("axis") is None:
        return replace(indices, dtype=data.dtype)
    if data.dims is None or indices.dims is None:
        return TensorType(None, data.dtype)
    axis = normal_axis(call, call.int_("axis"), len(data.dims))
    batch = call.int_("batch_dims")
    return TensorType(replaced(data.dims, axis, *indices.dims[batch:]), data.dtype)


def _gather(call: RelayCall) -> Type:
    data, indices = call.tensor(0), call.tensor(1)
    if data.dims is not None and indices.dims is not None and len(data.dims) != len(indices.dims):
        raise call.refuse(f"expects equal ranks, got {show_type(data)} and {show_type(indices)}")
    return replace(indices, dtype=data.dtype)


def _gather_nd(call: RelayCall) -> Type:
    """Relation: `(*b, *n, *r)` read at `(m, *b, *i)` is `(*b, *i, *r)`, with m indices each."""
    data, indices = call.tensor(0), call.tensor(1)
    if data.dims is None or not indices.dims:
        return TensorType(None, data.dtype)
    count = size(indices.dims[0])
    batch = call.int_("batch_dims")
    if count is None:
        return TensorType(None, data.dtype)
    if count + batch > len(data.dims):
        raise call.refuse(f"reads {count} indices per element, but the rank of {show_type(data)} is less")
    return TensorType((*indices.dims[1:], *data.dims[batch + count :]), data.dtype)


def _one_hot(call: RelayCall) -> Type:
    indices, depth = call.dims(0), IntImm(call.int_("depth"))
    dtype = call.dtype() or call.tensor(1).dtype
    if indices is None:
        return TensorType(None, dtype)
    axis = call.int_("axis")
    place = len(indices) if axis == -1 else normal_axis(call, axis, len(indices) + 1)
    return TensorType((*indices[:place], depth, *indices[place:]), dtype)


def _strided_slice(call: RelayCall) -> Type:
    data = call.tensor()
    if data.dims is None:
        return data
    begin, end = call.ints("begin"), call.ints("end")
    strides = call.ints("strides") if call.has("strides") else (1,)
    strides = strides * len(begin) if len(strides) == 1 else strides
    axes = call.ints("axes") if call.has("axes") else tuple(range(len(begin)))
    is_size = call.text("slice_mode") == "size"
    dims = list(data.dims)
    for k, axis in enumerate(axes):
        place = normal_axis(call, axis, len(dims))
        stop = end[k] if k < len(end) else 2**31 - 1
        stride = 1 if is_size or k >= len(strides) else strides[k]
        if is_size:
            stop = 2**31 - 1 if stop < 0 else begin[k] + stop
        if stride == 0:
            raise call.refuse(f"expects a stride that is not 0 for axis {axis}")
        dims[place] = sliced(dims[place], begin[k], stop, stride)
    return TensorType(tuple(dims), data.dtype)


def sliced(dim: PrimExpr, begin: int, end: int, stride: int) -> PrimExpr:
    """Return how many elements a slice takes; negative bounds count from the end, as Python's do."""
    whole = size(dim)
    if whole is None:
        is_all = begin == 0 and end >= 2**31 - 1 and stride == 1
        return dim if is_all else AnyDim()
    return IntImm(len(range(*slice(begin, None if end < -whole and stride < 0 else end, stride).indices(whole))))


def _slice_like(call: RelayCall) -> Type:
    data, like = call.tensor(0), call.tensor(1)
    if data.dims is None or like.dims is None:
        return data
    axes = call.ints("axes") if call.has("axes") else tuple(range(min(len(data.dims), len(like.dims))))
    dims = data.dims
    for axis in axes:
        place = normal_axis(call, axis, len(dims))
        normal_axis(call, axis, len(like.dims))
        old, new = size(dims[place]), like.dims[axis]
        if old is not None and (size(new) or 0) > old:
            raise call.refuse(f"cannot cut {show_dims(data.dims)} to {show_dims(like.dims)}: axis {axis} is too short")
        dims = replaced(dims, place, new)
    return TensorType(dims, data.dtype)


def _adv_index(call: RelayCall) -> Type:
    if not call.tensors():
        raise call.refuse("expects the data and its indices")
    data, *indices = call.tensors()
    dims: Dims | None = ()
    for item in indices:
        dims = None if dims is None or item.dims is None else broadcast(call, dims, item.dims)
    if dims is None or data.dims is None:
        return TensorType(None, data.dtype)
    return TensorType((*dims, *data.dims[len(indices) :]), data.dtype)


def _argwhere(call: RelayCall) -> Type:
    dims = call.dims()
    return TensorType((AnyDim(), AnyDim() if dims is None else IntImm(len(dims))), "int32")


def _unravel_index(call: RelayCall) -> Type:
    indices, shape = call.tensor(0), call.dims(1)
    rank = shape[0] if shape else AnyDim()
    if indices.dims is None:
        return indices
    return TensorType((rank, *indices.dims), indices.dtype)


def _sparse_to_dense(call: RelayCall) -> Type:
    return TensorType(dims_of(*call.ints("output_shape")), call.tensor(1).dtype)


def _fifo(call: RelayCall) -> Type:
    return call.tensor(1)


def _meshgrid(call: RelayCall) -> Type:
    tensors = call.tensors()
    dims: list[PrimExpr] = [item.dims[0] if item.dims else IntImm(1) for item in tensors]
    if call.text("indexing") == "xy" and len(dims) > 1:
        dims[:2] = dims[1], dims[0]
    return TupleType(tuple(TensorType(tuple(dims), item.dtype) for item in tensors))


_MODE = MappingProxyType({"mode": "update"})

SPECS = (
    op("take", "data indices", _take, {"axis": None, "mode": "clip", "batch_dims": 0}, relax="relax.take"),
    op("gather", "data indices", _gather, {"axis": REQUIRED}, relax="relax.gather_elements"),
    op("gather_nd", "data indices", _gather_nd, {"batch_dims": 0, "index_rank": None}, relax="relax.gather_nd"),
    op("scatter", "data indices updates", identity, {"axis": 0}, relax="relax.scatter_elements"),
    op("scatter_add", "data indices updates", identity, {"axis": 0}, relax="relax.scatter_elements"),
    op("scatter_elements", "data indices updates", identity, {"axis": 0, "reduction": "update"},
       relax="relax.scatter_elements"),
    op("scatter_nd", "data indices updates", identity, _MODE, relax="relax.scatter_nd"),
    op("one_hot", "indices on_value off_value", _one_hot, {"depth": REQUIRED, "axis": -1, "dtype": ""},
       relax="relax.one_hot"),
    op("sequence_mask", "data valid_length", identity, {"mask_value": 0.0, "axis": 0},
       why="a comparison of positions with lengths, then where"),
    op("strided_slice", "data begin? end? strides?", _strided_slice,
       {"begin": REQUIRED, "end": REQUIRED, "strides": None, "slice_mode": "end", "axes": None},
       relax="relax.strided_slice"),
    op("strided_set", "data v begin end strides", identity, relax="relax.slice_scatter"),
    op("slice_like", "data shape_like", _slice_like, {"axes": None}, relax="relax.strided_slice"),
    op("adv_index", "inputs", _adv_index, relax="relax.index_tensor"),
    op("argwhere", "condition", _argwhere, relax="relax.nonzero"),
    op("unravel_index", "data shape", _unravel_index, why="quotients and remainders of the sizes"),
    op("sparse_to_dense", "sparse_indices sparse_values default_value?", _sparse_to_dense,
       {"output_shape": REQUIRED}, relax="relax.scatter_nd"),
    op("sparse_fill_empty_rows", "sparse_indices sparse_values dense_shape default_value", filled_rows,
       why="an entry for each row that has none, then all in order"),
    op("sparse_reshape", "sparse_indices prev_shape new_shape", sparse_reshape,
       why="quotients and remainders of the sizes"),
    op("meshgrid", "data", _meshgrid, {"indexing": "ij"}, relax="relax.meshgrid"),
    op("nn.fifo_buffer", "data buffer", _fifo, {"axis": 0}, why="a concatenation, then a slice"),
)  # fmt: skip
