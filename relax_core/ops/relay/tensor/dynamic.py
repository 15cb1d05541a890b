"""Operators of which a size, a shape or an axis is known only when the program runs, `dyn.*`.

Sizes are tensors here: positions are counted up to them, elements are taken at computed positions, and shapes are made
of them again.
"""

from relax_core.ir.expr import Dims, Expr, TensorType, Type
from relax_core.ir.prim import AnyDim, IntImm
from relax_core.ops.operands import replaced
from relax_core.ops.relay.dims import known_size
from relax_core.ops.relay.entry import op
from relax_core.ops.relay.image.resize import (
    UPSAMPLING,
    UPSAMPLING_3D,
    dynamic_resize2d,
    dynamic_upsampling,
    dynamic_upsampling3d,
    resize_attrs,
)
from relax_core.ops.relay.spec import RelayCall
from relax_core.ops.relay.tensor.create import filled, full, shape_argument
from relax_core.ops.relay.tensor.index import hot
from relax_core.ops.relay.tensor.reduce import TOPK, ordered, top, topk_type
from relax_core.ops.relay.translation import (
    cast,
    counted,
    dtype_of,
    either,
    extent,
    inserted,
    literal,
    number,
    rank,
    relax,
    scalar,
    shape_tensor,
    size,
    to_shape,
    untranslated,
    vector,
)
from relax_core.ops.spec import REQUIRED

_SIZE = "int64"


def _shape_value(call: RelayCall, index: int) -> Dims | None:
    """Return the sizes that a shape given as a tensor stands for: its elements, or as many unknown ones."""
    literal = call.constant(index)
    if literal is not None:
        return tuple(IntImm(int(item)) if item >= 0 else AnyDim() for item in literal)
    dims = call.dims(index)
    count = known_size(dims[0]) if dims else None
    return None if count is None else tuple(AnyDim() for _ in range(count))


def _dyn_reshape_type(call: RelayCall) -> Type:
    return TensorType(_shape_value(call, 1), call.dtype() or call.tensor().dtype)


def _dyn_filled_type(call: RelayCall) -> Type:
    return TensorType(_shape_value(call, 0), call.dtype())


def _dyn_sparse_type(call: RelayCall) -> Type:
    return TensorType(_shape_value(call, 3), call.tensor(1).dtype)


def _dyn_tile_type(call: RelayCall) -> Type:
    data, counts = call.tensor(), _shape_value(call, 1)
    if data.dims is None or counts is None:
        return TensorType(None, data.dtype)
    return TensorType(tuple(AnyDim() for _ in range(max(len(data.dims), len(counts)))), data.dtype)


def _dyn_one_hot_type(call: RelayCall) -> Type:
    dims, dtype = call.dims(), call.dtype() or call.tensor(1).dtype
    return TensorType(None if dims is None else tuple(AnyDim() for _ in range(len(dims) + 1)), dtype)


def _dyn_same_rank_type(call: RelayCall) -> Type:
    data = call.tensor()
    return TensorType(None if data.dims is None else tuple(AnyDim() for _ in data.dims), data.dtype)


def _dyn_expand_type(call: RelayCall) -> Type:
    data = call.tensor()
    count = call.int_("num_newaxis")
    return TensorType(None if data.dims is None else tuple(AnyDim() for _ in range(len(data.dims) + count)), data.dtype)


def _dyn_squeeze_type(call: RelayCall) -> Type:
    data, axes = call.tensor(), _shape_value(call, 1)
    if data.dims is None or axes is None:
        return TensorType(None, data.dtype)
    return TensorType(tuple(AnyDim() for _ in range(len(data.dims) - len(axes))), data.dtype)


def _dyn_resize_type(call: RelayCall) -> Type:
    data = call.tensor()
    if data.dims is None:
        return data
    dims = data.dims
    for k, letter in enumerate(call.text("layout")):
        if letter in "DHW" and k < len(dims):
            dims = replaced(dims, k, AnyDim())
    return TensorType(dims, call.dtype("out_dtype") or data.dtype)


def dyn_reshape(call: RelayCall) -> Expr:
    return relax("reshape", call.exprs[0], _dyn_shape(call, 1))


def _dyn_shape(call: RelayCall, index: int) -> object:
    known = call.constant(index)
    if known is None:
        return shape_argument(index)(call)
    sizes = [int(item) for item in known]
    if 0 in sizes and not call.flag("allowzero"):
        sizes = [size(call, k) if item == 0 else item for k, item in enumerate(sizes)]
    if -1 in sizes:
        total = 1
        for axis in range(rank(call)):
            total *= size(call, axis)
        others = 1
        for item in sizes:
            others *= item if item != -1 else 1
        sizes = [total // max(others, 1) if item == -1 else item for item in sizes]
    return tuple(sizes)


def _dyn_broadcast(call: RelayCall) -> Expr:
    return relax("broadcast_to", call.exprs[0], shape_argument(1)(call))


def _dyn_tile(call: RelayCall) -> Expr:
    return relax("tile", call.exprs[0], tuple(int(item) for item in literal(call, 1)))


def _dyn_one_hot(call: RelayCall) -> Expr:
    return hot(call, vector(tuple(range(int(number(call, 3))))))


def _dyn_topk(call: RelayCall) -> Expr:
    return top(call, int(number(call, 1)))


def _dyn_slice(call: RelayCall) -> Expr:
    if call.text("slice_mode") == "size" or call.has("axes"):
        raise untranslated(call, "Relax slices all axes, up to an end")
    return relax("dynamic_strided_slice", *(cast(item, "int64") if k else item for k, item in enumerate(call.exprs)))


def _dyn_expand_dims(call: RelayCall) -> Expr:
    axis = int(number(call, 1))
    start = axis + rank(call) + 1 if axis < 0 else axis
    return relax("expand_dims", call.exprs[0], tuple(range(start, start + call.int_("num_newaxis"))))


def _dyn_squeeze(call: RelayCall) -> Expr:
    return relax("squeeze", call.exprs[0], tuple(int(item) for item in literal(call, 1)))


def _dyn_pad(call: RelayCall) -> Expr:
    widths = tuple(int(item) for item in literal(call, 1))
    return relax("nn.pad", call.exprs[0], widths, call.text("pad_mode"), float(number(call, 2)))


def _integer(call: RelayCall, index: int) -> Expr:
    """Return an argument of one integer as a vector of one."""
    return relax("reshape", cast(call.exprs[index], _SIZE), (1,))


def _element(values: Expr, place: int) -> Expr:
    return relax("strided_slice", values, (0,), (place,), (place + 1,))


def _one_hot(call: RelayCall) -> Expr:
    return hot(call, counted(_integer(call, 3)))


def _dyn_top(call: RelayCall) -> Expr:
    return ordered(call, _integer(call, 1))


def _tile(call: RelayCall) -> Expr:
    """Along each axis, take the positions modulo its size."""
    times = cast(call.exprs[1], _SIZE)
    count, given = rank(call), size(call, 0, 1)
    value = inserted(call.exprs[0], tuple(range(max(0, given - count))))
    for k in range(given):
        axis = k + max(0, count - given)
        own = extent(call, axis - max(0, given - count)) if axis >= given - count else vector((1,))
        total = relax("multiply", own, _element(times, k))
        value = relax("take", value, relax("floor_mod", counted(total), own), axis)
    return value


def _pad(call: RelayCall) -> Expr:
    """Along each axis, take the positions less those before the data; what is not there gets the value."""
    if call.text("pad_mode") != "constant":
        raise untranslated(call, f"widths that are not written out, with the mode {call.text('pad_mode')}")
    value = call.exprs[0]
    widths = relax("reshape", cast(call.exprs[1], _SIZE), (-1,))
    outside = cast(call.exprs[2], dtype_of(call))
    for axis in range(rank(call)):
        before, behind, own = _element(widths, 2 * axis), _element(widths, 2 * axis + 1), extent(call, axis)
        total = relax("add", relax("add", before, behind), own)
        place = relax("subtract", counted(total), before)
        is_there = relax("logical_and", relax("greater_equal", place, vector((0,))), relax("less", place, own))
        taken = relax("take", value, place, axis, "clip")
        value = relax("where", inserted(is_there, tuple(range(1, rank(call) - axis))), taken, outside)
    return value


def _reshape(call: RelayCall) -> Expr:
    """Where the shape has a 0 the size is that of the data there, and a -1 is what remains."""
    own, wanted = shape_tensor(call), cast(call.exprs[1], _SIZE)
    given, count = size(call, 0, 1), rank(call)
    if not call.flag("allowzero"):
        common = min(given, count)
        beside = relax("strided_slice", own, (0,), (0,), (common,))
        padded = relax("concat", (beside, vector((0,) * (given - common))), 0) if given > common else beside
        wanted = relax("where", relax("equal", wanted, scalar(0, _SIZE)), padded, wanted)
    known = relax("abs", relax("prod", wanted))
    rest = relax("floor_divide", relax("prod", own), relax("maximum", known, scalar(1, _SIZE)))
    sizes = relax("where", relax("equal", wanted, scalar(-1, _SIZE)), rest, wanted)
    return relax("reshape", call.exprs[0], to_shape(sizes))


def _expand_dims(call: RelayCall) -> Expr:
    more, count = call.int_("num_newaxis"), rank(call)
    axis = _integer(call, 1)
    axis = relax("where", relax("less", axis, vector((0,))), relax("add", axis, vector((count + 1,))), axis)
    own, ones = shape_tensor(call), vector((1,) * more)
    at = vector(tuple(range(count + more)))
    is_before = relax("less", at, axis)
    is_added = relax("less", at, relax("add", axis, vector((more,))))
    behind = relax("where", is_added, vector((1,)), relax("concat", (ones, own), 0))
    sizes = relax("where", is_before, relax("concat", (own, ones), 0), behind)
    return relax("reshape", call.exprs[0], to_shape(sizes))


def _squeeze(call: RelayCall) -> Expr:
    """Keep the sizes of the other axes, in their order."""
    count, gone = rank(call), size(call, 0, 1)
    axes = relax("floor_mod", cast(call.exprs[1], _SIZE), vector((count,)))
    at = vector(tuple(range(count)))
    is_gone = relax("equal", relax("expand_dims", at, (1,)), relax("expand_dims", axes, (0,)))
    key = relax("add", at, relax("multiply", relax("max", cast(is_gone, _SIZE), (1,)), vector((count,))))
    order = relax("strided_slice", relax("argsort", key, 0, False, _SIZE), (0,), (0,), (count - gone,))
    return relax("reshape", call.exprs[0], to_shape(relax("take", shape_tensor(call), order, 0)))


def _dyn_sparse_to_dense(call: RelayCall) -> Expr:
    """Write the values into a tensor of the default value, whose shape is a value."""
    places, values, default, _ = call.exprs
    if rank(call) != 2 or rank(call, 1) != 1:
        raise untranslated(call, "the places must be the rows of a matrix, and the values a vector")
    whole = relax("full", shape_argument(3)(call), default, dtype_of(call, 1))
    return relax("scatter_nd", whole, cast(places, "int64"), values)


SPECS = (
    op("dyn.reshape", "data newshape", either(dyn_reshape, _reshape, 1), {"newshape": None, "allowzero": False},
       relation=_dyn_reshape_type),
    op("dyn.broadcast_to", "data shape", _dyn_broadcast, {"shape": None, "dtype": ""}, relation=_dyn_reshape_type),
    op("dyn.full", "fill_value shape", full(shape_argument(1)), {"shape": None, "dtype": ""},
       relation=_dyn_reshape_type),
    op("dyn.zeros", "shape", filled("zeros", shape_argument(0)), {"shape": None, "dtype": REQUIRED},
       relation=_dyn_filled_type),
    op("dyn.ones", "shape", filled("ones", shape_argument(0)), {"shape": None, "dtype": REQUIRED},
       relation=_dyn_filled_type),
    op("dyn.tile", "data reps", either(_dyn_tile, _tile, 1), {"reps": None}, relation=_dyn_tile_type),
    op("dyn.one_hot", "indices on_value off_value depth", either(_dyn_one_hot, _one_hot, 3),
       {"axis": -1, "dtype": "", "depth": None}, relation=_dyn_one_hot_type),
    op("dyn.strided_slice", "data begin end strides", _dyn_slice,
       {"begin": None, "end": None, "strides": None, "slice_mode": "end", "axes": None},
       relax="dynamic_strided_slice", relation=_dyn_same_rank_type),
    op("dyn.expand_dims", "data axis", either(_dyn_expand_dims, _expand_dims, 1), {"num_newaxis": 1, "axis": 0},
       relation=_dyn_expand_type),
    op("dyn.squeeze", "data axis", either(_dyn_squeeze, _squeeze, 1), relation=_dyn_squeeze_type),
    op("dyn.nn.pad", "data pad_width pad_value", either(_dyn_pad, _pad, 1, 2), {"pad_mode": "constant"},
       relation=_dyn_same_rank_type),
    op("dyn.topk", "data k", either(_dyn_topk, _dyn_top, 1), {"k": None, **TOPK}, relation=topk_type),
    op("dyn.nn.upsampling", "data scale_h scale_w", dynamic_upsampling, UPSAMPLING, relation=_dyn_resize_type),
    op("dyn.nn.upsampling3d", "data scale_d scale_h scale_w", dynamic_upsampling3d, UPSAMPLING_3D,
       relation=_dyn_resize_type),
    op("dyn.image.resize2d", "data size roi", dynamic_resize2d, resize_attrs("NCHW"), relation=_dyn_resize_type),
    op("dyn.sparse_to_dense", "sparse_indices sparse_values default_value output_shape", _dyn_sparse_to_dense,
       relation=_dyn_sparse_type),
)  # fmt: skip
