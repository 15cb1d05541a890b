"""Relay's reductions over axes, and what orders, counts and searches elements along one."""

from dataclasses import replace
from math import prod
from types import MappingProxyType

from relax_core.ir.expr import Dims, Expr, TensorType, Tuple, TupleType, Type
from relax_core.ir.prim import AnyDim, IntImm
from relax_core.ops.operands import replaced
from relax_core.ops.relay.dims import ONE, dims_of, normal_axis, product
from relax_core.ops.relay.entry import op
from relax_core.ops.relay.nn.convolution import Window, window_count
from relax_core.ops.relay.spec import Relation, RelayCall
from relax_core.ops.relay.tensor.elementwise import identity
from relax_core.ops.relay.tensor.sparse import unique
from relax_core.ops.relay.translation import (
    Rule,
    axis_of,
    cast,
    counted,
    dtype_of,
    extent,
    is_sized,
    rank,
    relax,
    scalar,
    size,
    untranslated,
    vector,
)
from relax_core.ops.spec import REQUIRED

_AXIS = MappingProxyType({"axis": None, "keepdims": False, "exclude": False})


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


def _reduced_to(dtype: str | None = None) -> Relation:
    def relation(call: RelayCall) -> Type:
        tensor = call.tensor()
        dims = None if tensor.dims is None else reduced_dims(call, tensor.dims)
        return TensorType(dims, call.dtype() or dtype or tensor.dtype)

    return relation


def _argsort_type(call: RelayCall) -> Type:
    return replace(call.tensor(), dtype=call.dtype() or "int32")


def topk_type(call: RelayCall) -> Type:
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


def _scan_type(call: RelayCall) -> Type:
    tensor = call.tensor()
    dtype = call.dtype() or tensor.dtype
    if call.attrs.get("axis") is None:
        return TensorType(None if tensor.dims is None else (product(tensor.dims),), dtype)
    if tensor.dims is not None:
        normal_axis(call, call.int_("axis"), len(tensor.dims))
    return TensorType(tensor.dims, dtype)


def _unique_type(call: RelayCall) -> Type:
    data = call.tensor()
    length = product(data.dims) if data.dims is not None else AnyDim()
    fields = (
        TensorType((length,), data.dtype),
        TensorType((length,), "int32"),
        TensorType((length,), "int32"),
        TensorType(dims_of(1), "int32"),
    )
    return TupleType((*fields, TensorType((length,), "int32")) if call.flag("return_counts") else fields)


def _sliding_window_type(call: RelayCall) -> Type:
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


def _axes(call: RelayCall) -> tuple[int, ...] | None:
    """Return the axes that are reduced; `None` for all."""
    count = rank(call)
    given = call.attrs.get("axis")
    axes = tuple(axis % count for axis in call.ints("axis")) if given is not None and count else ()
    if call.flag("exclude"):
        return tuple(k for k in range(count) if k not in axes)
    return None if given is None or (given == () and not call.flag("exclude")) else axes


def _reduced(call: RelayCall, name: str, value: Expr) -> Expr:
    axes = _axes(call)
    return value if axes == () else relax(name, value, axes, call.flag("keepdims"))


def _reduce(name: str) -> Rule:
    def rule(call: RelayCall) -> Expr:
        return _reduced(call, name, call.exprs[0])

    return rule


def _truth(name: str) -> Rule:
    """All and any are the least and the greatest of 0 and 1."""

    def rule(call: RelayCall) -> Expr:
        return cast(_reduced(call, name, cast(call.exprs[0], "int32")), "bool")

    return rule


def _mean(call: RelayCall) -> Expr:
    dtype = dtype_of(call)
    if not dtype.startswith(("int", "uint")):
        return _reduced(call, "mean", call.exprs[0])
    total = _reduced(call, "sum", call.exprs[0])
    return relax("divide", total, _reduced_count(call, dtype))


def _reduced_count(call: RelayCall, dtype: str) -> Expr:
    """Return how many elements make one of the result."""
    axes = _axes(call)
    axes = tuple(range(rank(call))) if axes is None else axes
    if is_sized(call):
        return scalar(prod(size(call, axis) for axis in axes), dtype)
    sizes = (vector((1,)), *(extent(call, axis) for axis in axes))
    return cast(relax("prod", relax("concat", sizes, 0)), dtype)


def _variance(call: RelayCall) -> Expr:
    data, *mean = call.exprs
    if mean:
        found = _reduced(call, "mean", relax("square", relax("subtract", data, mean[0])))
    else:
        found = _reduced(call, "variance", data)
    if not call.flag("unbiased"):
        return found
    dtype = dtype_of(call)
    count = _reduced_count(call, dtype)
    others = relax("maximum", relax("subtract", count, scalar(1, dtype)), scalar(1, dtype))
    return relax("multiply", found, relax("divide", count, others))


def _argument(name: str) -> Rule:
    def rule(call: RelayCall) -> Expr:
        axes = _axes(call)
        if axes is not None and len(axes) != 1:
            raise untranslated(call, "Relax finds the place along one axis, or in all")
        if call.flag("select_last_index"):
            raise untranslated(call, "Relax gives the first place")
        return cast(relax(name, call.exprs[0], None if axes is None else axes[0], call.flag("keepdims")), "int32")

    return rule


def _scan(name: str) -> Rule:
    def rule(call: RelayCall) -> Expr:
        axis = None if call.attrs.get("axis") is None else call.int_("axis")
        dtype = call.dtype() or dtype_of(call)
        if dtype == "bool":
            dtype = "int32"
        return relax(name, call.exprs[0], axis, dtype, call.flag("exclusive"))

    return rule


def _ndarray_size(call: RelayCall) -> Expr:
    return cast(relax("size", call.exprs[0]), call.dtype() or "int32")


def _searchsorted_type(call: RelayCall) -> Type:
    return replace(call.tensor(1), dtype=call.dtype() or "int32")


def _searchsorted(call: RelayCall) -> Expr:
    if rank(call) != 1:
        raise untranslated(call, "the sorted sequence must have rank 1")
    found = relax("bucketize", call.exprs[1], call.exprs[0], True, call.flag("right"))
    return cast(found, call.dtype() or "int32")


def _sort(call: RelayCall) -> Expr:
    return relax("sort", call.exprs[0], call.int_("axis"), not call.flag("is_ascend"))


def _argsort(call: RelayCall) -> Expr:
    descending = not call.flag("is_ascend")
    return cast(relax("argsort", call.exprs[0], call.int_("axis"), descending, "int32"), call.dtype() or "int32")


def top(call: RelayCall, k: int) -> Expr:
    """The `k` largest elements along an axis, all if `k` is less than one."""
    count = k if k >= 1 else size(call, axis_of(call))
    largest = not call.flag("is_ascend")
    kind = call.text("ret_type")
    return relax("topk", call.exprs[0], count, call.int_("axis"), kind, largest, call.dtype() or "int32")


def _invert_permutation(call: RelayCall) -> Expr:
    return cast(relax("argsort", call.exprs[0]), dtype_of(call))


def _sliding_window(call: RelayCall) -> Expr:
    """Stack the windows: as many axes of positions as there are axes of windows."""
    axis, window, steps = axis_of(call), call.ints("window_shape"), call.ints("strides")
    value, count = call.exprs[0], rank(call)
    for k, (width, step) in enumerate(zip(window, steps, strict=True)):
        at = axis + k
        whole = size(call, at)
        starts = range(0, whole - width + 1, step)
        inner = at + k
        # The axis of positions of this round goes behind those of the rounds before it.
        parts = tuple(relax("strided_slice", value, (inner,), (start,), (start + width,)) for start in starts)
        value = relax("stack", parts, at)
    assert count >= axis + len(window), "the relation has seen to it"
    return value


def _top(call: RelayCall) -> Expr:
    is_known = call.int_("k") >= 1 or is_sized(call)
    return top(call, call.int_("k")) if is_known else ordered(call, vector((0,)))


def ordered(call: RelayCall, wanted: Expr) -> Expr:
    """Order all elements along the axis, and keep the first of them; all if fewer than one is wanted."""
    axis, data = axis_of(call), call.exprs[0]
    whole = extent(call, axis)
    kept = relax("where", relax("less", wanted, vector((1,))), whole, relax("minimum", wanted, whole))
    order = relax("argsort", data, axis, not call.flag("is_ascend"), "int64")
    first = relax("take", order, counted(kept), axis)
    values = relax("gather_elements", data, first, axis)
    places = cast(first, call.dtype() or "int32")
    match call.text("ret_type"):
        case "values":
            return values
        case "indices":
            return places
        case _:
            return Tuple((values, places))


TOPK = MappingProxyType({"axis": -1, "ret_type": "both", "is_ascend": False, "dtype": "int32"})
_ORDER = MappingProxyType({"axis": -1, "is_ascend": True, "dtype": "int32"})
_SCAN = MappingProxyType({"axis": None, "dtype": "", "exclusive": False})

SPECS = (
    *(op(name, "data", _reduce(name), _AXIS, relax=name, relation=_reduced_to())
      for name in ("sum", "max", "min", "prod")),
    op("mean", "data", _mean, _AXIS, relax="mean", relation=_reduced_to()),
    op("all", "data", _truth("min"), _AXIS, relation=_reduced_to("bool")),
    op("any", "data", _truth("max"), _AXIS, relation=_reduced_to("bool")),
    op("variance", "data mean?", _variance, {**_AXIS, "unbiased": False}, relax="variance", relation=_reduced_to()),
    *(op(name, "data", _argument(name), {**_AXIS, "select_last_index": False}, relax=name,
         relation=_reduced_to("int32")) for name in ("argmax", "argmin")),
    op("sort", "data", _sort, _ORDER, relax="sort", relation=identity),
    op("argsort", "data", _argsort, _ORDER, relax="argsort", relation=_argsort_type),
    op("topk", "data", _top, {"k": 1, **TOPK}, relax="topk", relation=topk_type),
    op("cumsum", "data", _scan("cumsum"), _SCAN, relax="cumsum", relation=_scan_type),
    op("cumprod", "data", _scan("cumprod"), _SCAN, relax="cumprod", relation=_scan_type),
    op("searchsorted", "sorted values", _searchsorted, {"right": False, "dtype": "int32"}, relax="bucketize",
       relation=_searchsorted_type),
    op("unique", "data", unique, {"sorted": True, "return_counts": False}, relax="unique", relation=_unique_type),
    op("invert_permutation", "data", _invert_permutation, relax="argsort", relation=identity),
    op("ndarray_size", "data", _ndarray_size, {"dtype": "int32"}, relax="size"),
    op("sliding_window", "data", _sliding_window, {"axis": REQUIRED, "window_shape": REQUIRED, "strides": REQUIRED},
       relation=_sliding_window_type),
)  # fmt: skip
