"""Relay's operators that make tensors from shapes, values and random keys, and those whose shape is a value."""

import math

from relax_core.ir.prim import AnyDim, IntImm, PrimExpr
from relax_core.ir.types import Dims, TensorType, TupleType, Type
from relax_core.ops.relay.dims import dims_of, replaced, size
from relax_core.ops.relay.elementwise import identity
from relax_core.ops.relay.manipulate import new_dims
from relax_core.ops.relay.spec import RelayCall, op
from relax_core.ops.spec import REQUIRED

_KEY = TensorType(dims_of(10), "uint64")
_DRAWN = "the cipher Threefry, written in additions, shifts and exclusive ors of words"
_DYNAMIC = "the operator of the same name with a shape that is known at run time"


def _filled(call: RelayCall) -> Type:
    return TensorType(new_dims(call, "shape"), call.dtype())


def _full(call: RelayCall) -> Type:
    fill = call.tensor()
    if fill.dims:
        raise call.refuse(f"expects a fill value of rank 0, got rank {len(fill.dims)}")
    return TensorType(new_dims(call, "shape"), call.dtype() or fill.dtype)


def _full_like(call: RelayCall) -> Type:
    if call.dims(1):
        raise call.refuse("expects a fill value of rank 0")
    return call.tensor()


def _arange(call: RelayCall) -> Type:
    """Relation: `(ceil((stop - start) / step),)` if the three arguments are literals."""
    values = [call.constant(k) for k in range(3)]
    dtype = call.dtype() or call.tensor().dtype
    start, stop, step = (item[0] if item else None for item in values)
    if start is None or stop is None or step is None:
        return TensorType((AnyDim(),), dtype)
    if step == 0:
        raise call.refuse("needs a step that is not 0")
    return TensorType(dims_of(max(0, math.ceil((stop - start) / step))), dtype)


def _shape_of(call: RelayCall) -> Type:
    dims = call.dims()
    return TensorType((AnyDim() if dims is None else IntImm(len(dims)),), call.dtype() or "int32")


def _shape_value(call: RelayCall, index: int) -> Dims | None:
    """Return the sizes that a shape given as a tensor stands for: its elements, or as many unknown ones."""
    literal = call.constant(index)
    if literal is not None:
        return tuple(IntImm(int(item)) if item >= 0 else AnyDim() for item in literal)
    dims = call.dims(index)
    count = size(dims[0]) if dims else None
    return None if count is None else tuple(AnyDim() for _ in range(count))


def _dyn_reshape(call: RelayCall) -> Type:
    return TensorType(_shape_value(call, 1), call.dtype() or call.tensor().dtype)


def _dyn_filled(call: RelayCall) -> Type:
    return TensorType(_shape_value(call, 0), call.dtype())


def _dyn_sparse(call: RelayCall) -> Type:
    return TensorType(_shape_value(call, 3), call.tensor(1).dtype)


def _dyn_tile(call: RelayCall) -> Type:
    data, counts = call.tensor(), _shape_value(call, 1)
    if data.dims is None or counts is None:
        return TensorType(None, data.dtype)
    return TensorType(tuple(AnyDim() for _ in range(max(len(data.dims), len(counts)))), data.dtype)


def _dyn_one_hot(call: RelayCall) -> Type:
    dims, dtype = call.dims(), call.dtype() or call.tensor(1).dtype
    return TensorType(None if dims is None else tuple(AnyDim() for _ in range(len(dims) + 1)), dtype)


def _dyn_same_rank(call: RelayCall) -> Type:
    data = call.tensor()
    return TensorType(None if data.dims is None else tuple(AnyDim() for _ in data.dims), data.dtype)


def _dyn_expand(call: RelayCall) -> Type:
    data = call.tensor()
    count = call.int_("num_newaxis")
    return TensorType(None if data.dims is None else tuple(AnyDim() for _ in range(len(data.dims) + count)), data.dtype)


def _dyn_squeeze(call: RelayCall) -> Type:
    data, axes = call.tensor(), _shape_value(call, 1)
    if data.dims is None or axes is None:
        return TensorType(None, data.dtype)
    return TensorType(tuple(AnyDim() for _ in range(len(data.dims) - len(axes))), data.dtype)


def _dyn_resize(call: RelayCall) -> Type:
    data = call.tensor()
    if data.dims is None:
        return data
    dims = data.dims
    for k, letter in enumerate(call.text("layout")):
        if letter in "DHW" and k < len(dims):
            dims = replaced(dims, k, AnyDim())
    return TensorType(dims, call.dtype("out_dtype") or data.dtype)


def _random(call: RelayCall) -> Type:
    return TupleType((_KEY, TensorType(new_dims(call, "out_shape"), call.dtype("out_dtype") or "float32")))


def _threefry(call: RelayCall) -> Type:
    return TupleType((_KEY, TensorType(new_dims(call, "out_shape"), "uint64")))


def _multinomial(call: RelayCall) -> Type:
    dims = call.dims(1)
    last: PrimExpr = IntImm(call.int_("num_samples"))
    return TupleType((_KEY, TensorType(None if dims is None else (*dims[:-1], last), "int32")))


SPECS = (
    op("zeros", "", _filled, {"shape": REQUIRED, "dtype": REQUIRED}, relax="relax.zeros"),
    op("ones", "", _filled, {"shape": REQUIRED, "dtype": REQUIRED}, relax="relax.ones"),
    op("zeros_like", "data", identity, relax="relax.zeros_like"),
    op("ones_like", "data", identity, relax="relax.ones_like"),
    op("full", "fill_value", _full, {"shape": REQUIRED, "dtype": ""}, relax="relax.full"),
    op("full_like", "data fill_value", _full_like, relax="relax.full_like"),
    op("arange", "start stop step", _arange, {"start": None, "stop": None, "step": None, "dtype": ""},
       relax="relax.arange"),
    op("shape_of", "data", _shape_of, {"dtype": "int32"}, relax="relax.shape_of"),
    op("dyn.reshape", "data newshape", _dyn_reshape, {"newshape": None, "allowzero": False}, why=_DYNAMIC),
    op("dyn.broadcast_to", "data shape", _dyn_reshape, {"shape": None, "dtype": ""}, why=_DYNAMIC),
    op("dyn.full", "fill_value shape", _dyn_reshape, {"shape": None, "dtype": ""}, why=_DYNAMIC),
    op("dyn.zeros", "shape", _dyn_filled, {"shape": None, "dtype": REQUIRED}, why=_DYNAMIC),
    op("dyn.ones", "shape", _dyn_filled, {"shape": None, "dtype": REQUIRED}, why=_DYNAMIC),
    op("dyn.tile", "data reps", _dyn_tile, {"reps": None}, why=_DYNAMIC),
    op("dyn.one_hot", "indices on_value off_value depth", _dyn_one_hot, {"axis": -1, "dtype": "", "depth": None},
       why=_DYNAMIC),
    op("dyn.strided_slice", "data begin end strides", _dyn_same_rank,
       {"begin": None, "end": None, "strides": None, "slice_mode": "end", "axes": None},
       relax="relax.dynamic_strided_slice"),
    op("dyn.expand_dims", "data axis", _dyn_expand, {"num_newaxis": 1, "axis": 0}, why=_DYNAMIC),
    op("dyn.squeeze", "data axis", _dyn_squeeze, why=_DYNAMIC),
    op("dyn.nn.pad", "data pad_width pad_value", _dyn_same_rank, {"pad_mode": "constant"}, why=_DYNAMIC),
    op("dyn.nn.upsampling", "data scale_h scale_w", _dyn_resize,
       {"layout": "NCHW", "method": "nearest_neighbor", "align_corners": False}, why=_DYNAMIC),
    op("dyn.nn.upsampling3d", "data scale_d scale_h scale_w", _dyn_resize,
       {"layout": "NCDHW", "method": "nearest_neighbor", "coordinate_transformation_mode": "half_pixel"},
       why=_DYNAMIC),
    op("dyn.image.resize2d", "data size roi", _dyn_resize,
       {"size": None, "roi": None, "layout": "NCHW", "method": "linear",
        "coordinate_transformation_mode": "half_pixel", "rounding_method": "", "cubic_alpha": -0.5,
        "cubic_exclude": 0, "extrapolation_value": 0.0, "out_dtype": ""}, why=_DYNAMIC),
    op("dyn.sparse_to_dense", "sparse_indices sparse_values default_value output_shape",
       _dyn_sparse, why=_DYNAMIC),
    op("random.threefry_generate", "key", _threefry, {"out_shape": REQUIRED}, why=_DRAWN),
    op("random.threefry_split", "key", lambda call: TupleType((_KEY, _KEY)), why=_DRAWN),
    op("random.uniform", "key low high", _random, {"out_shape": REQUIRED, "out_dtype": "float32"},
       why=_DRAWN),
    op("random.normal", "key mean scale", _random, {"out_shape": REQUIRED, "out_dtype": "float32"},
       why=_DRAWN),
    op("random.multinomial", "key probs", _multinomial, {"num_samples": REQUIRED},
       relax="relax.multinomial_from_uniform"),
)  # fmt: skip
