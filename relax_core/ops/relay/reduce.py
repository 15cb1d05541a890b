"""Relay's reductions over axes, and sorting and searching along one."""

from dataclasses import replace
from types import MappingProxyType

from relax_core.ir.prim import AnyDim, IntImm
from relax_core.ir.types import Dims, TensorType, TupleType, Type
from relax_core.ops.relay.convolution import Window, window_count
from relax_core.ops.relay.dims import ONE, dims_of, normal_axis, product, replaced
from relax_core.ops.relay.elementwise import identity
from relax_core.ops.relay.spec import Relation, RelayCall, op
from relax_core.ops.spec import REQUIRED

_AXES = MappingProxyType({"axis": None, "keepdims": False, "exclude": False})


def reduced_dims(call: RelayCall, dims: Dims) -> Dims:
    """Return the sizes that are left; `exclude` reduces the axes that are not named, no axes at all reduce all."""
    rank = len(dims)
    axes = {normal_axis(call, axis, rank) for axis in call.ints("axis")} if call.has("axis") else set(range(rank))
    if call.attrs.get("axis") == () and not call.flag("exclude"):
        axes = set(range(rank))
    if call.flag("exclude"):
        axes = set(range(rank)) - axes
    if call.flag("keepdims"):
        return tuple(ONE if k in axes else dim for k, dim in enumerate(dims))
    return tuple(dim for k, dim in enumerate(dims) if k not in axes)


def _reduce(dtype: str | None = None) -> Relation:
    def relation(call: RelayCall) -> Type:
        tensor = call.tensor()
        dims = None if tensor.dims is None else reduced_dims(call, tensor.dims)
        return TensorType(dims, call.dtype() or dtype or tensor.dtype)

    return relation


def _argsort(call: RelayCall) -> Type:
    return replace(call.tensor(), dtype=call.dtype() or "int32")


def _topk(call: RelayCall) -> Type:
    tensor = call.tensor()
    dims = tensor.dims
    if dims is not None:
        axis = normal_axis(call, call.int_("axis"), len(dims))
        count = call.attrs.get("k")
        size = IntImm(count) if isinstance(count, int) and count >= 1 else dims[axis]
        dims = replaced(dims, axis, AnyDim() if count is None else size)
    values, indices = TensorType(dims, tensor.dtype), TensorType(dims, call.dtype() or "int32")
    match call.text("ret_type"):
        case "both":
            return TupleType((values, indices))
        case "values":
            return values
        case "indices":
            return indices
        case other:
            raise call.refuse(f'expects "both", "values" or "indices" as `ret_type`, got "{other}"', code="RY010")


def _scan(call: RelayCall) -> Type:
    tensor = call.tensor()
    dtype = call.dtype() or tensor.dtype
    if call.attrs.get("axis") is None:
        return TensorType(None if tensor.dims is None else (product(tensor.dims),), dtype)
    if tensor.dims is not None:
        normal_axis(call, call.int_("axis"), len(tensor.dims))
    return TensorType(tensor.dims, dtype)


def _searchsorted(call: RelayCall) -> Type:
    return replace(call.tensor(1), dtype=call.dtype() or "int32")


def _unique(call: RelayCall) -> Type:
    data = call.tensor()
    length = product(data.dims) if data.dims is not None else AnyDim()
    fields = (
        TensorType((length,), data.dtype),
        TensorType((length,), "int32"),
        TensorType((length,), "int32"),
        TensorType(dims_of(1), "int32"),
    )
    return TupleType((*fields, TensorType((length,), "int32")) if call.flag("return_counts") else fields)


def _nll_loss(call: RelayCall) -> Type:
    return TensorType(call.dims(1) if call.text("reduction") == "none" else (), call.tensor().dtype)


def _sliding_window(call: RelayCall) -> Type:
    data = call.tensor()
    window, strides = call.ints("window_shape"), call.ints("strides")
    if data.dims is None:
        return data
    axis = normal_axis(call, call.int_("axis"), len(data.dims))
    rest = data.dims[axis:]
    if not len(rest) == len(window) == len(strides) or min((*window, *strides), default=1) < 1:
        raise call.refuse(f"expects {len(rest)} positive integers as `window_shape` and as `strides`", code="RY010")
    counts = tuple(
        window_count(call, dim, Window(width, stride), f"axis {axis + k}")
        for k, (dim, width, stride) in enumerate(zip(rest, window, strides, strict=True))
    )
    return TensorType((*data.dims[:axis], *counts, *dims_of(*window)), data.dtype)


SPECS = (
    *(op(name, "data", _reduce(), _AXES, relax=f"relax.{name}") for name in ("sum", "mean", "max", "min", "prod")),
    *(op(name, "data", _reduce("bool"), _AXES, why="a sum or product of truth values") for name in ("all", "any")),
    op("variance", "data mean?", _reduce(), {**_AXES, "unbiased": False}, relax="relax.variance"),
    *(op(name, "data", _reduce("int32"), {**_AXES, "select_last_index": False}, relax=f"relax.{name}")
      for name in ("argmax", "argmin")),
    op("sort", "data", identity, {"axis": -1, "is_ascend": True, "dtype": "int32"}, relax="relax.sort"),
    op("argsort", "data", _argsort, {"axis": -1, "is_ascend": True, "dtype": "int32"}, relax="relax.argsort"),
    op("topk", "data", _topk, {"k": 1, "axis": -1, "ret_type": "both", "is_ascend": False, "dtype": "int32"},
       relax="relax.topk"),
    op("dyn.topk", "data k", _topk, {"k": None, "axis": -1, "ret_type": "both", "is_ascend": False, "dtype": "int32"},
       why="the operator topk with a size that is known at run time"),
    op("cumsum", "data", _scan, {"axis": None, "dtype": "", "exclusive": False}, relax="relax.cumsum"),
    op("cumprod", "data", _scan, {"axis": None, "dtype": "", "exclusive": False}, relax="relax.cumprod"),
    op("searchsorted", "sorted values", _searchsorted, {"right": False, "dtype": "int32"}, relax="relax.bucketize"),
    op("unique", "data", _unique, {"sorted": True, "return_counts": False}, relax="relax.unique"),
    op("invert_permutation", "data", identity, relax="relax.argsort"),
    op("ndarray_size", "data", lambda call: TensorType((), call.dtype() or "int32"), {"dtype": "int32"},
       relax="relax.size"),
    op("nn.cross_entropy", "predictions targets", lambda call: TensorType((), call.tensor().dtype),
       why="minus the mean of the targets times the logarithm"),
    op("nn.cross_entropy_with_logits", "predictions targets", lambda call: TensorType((), call.tensor().dtype),
       relax="relax.nn.cross_entropy_with_logits"),
    op("nn.nll_loss", "predictions targets weights", _nll_loss,
       {"reduction": "mean", "ignore_index": -100}, relax="relax.nn.nll_loss"),
    op("sliding_window", "data", _sliding_window, {"axis": REQUIRED, "window_shape": REQUIRED, "strides": REQUIRED},
       why="Relax has no view of overlapping windows"),
)  # fmt: skip
