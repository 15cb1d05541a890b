"""Operators that read and write by index, and those that order elements, in Relax."""

from types import MappingProxyType

from relax_core.ir.expr import Expr, Tuple
from relax_core.ops.relay.dims import calculate
from relax_core.ops.relay.spec import RelayCall
from relax_core.ops.relay.to_relax_make import (
    Rule,
    Rules,
    axis_of,
    cast,
    dims,
    dtype_of,
    fields,
    inserted,
    moved,
    number,
    rank,
    relax,
    scalar,
    size,
    untranslated,
    vector,
)

_REDUCTIONS = MappingProxyType(
    {"update": "update", "add": "add", "mul": "mul", "min": "min", "max": "max", "mean": "mean"}
)


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


def _searchsorted(call: RelayCall) -> Expr:
    if rank(call) != 1:
        raise untranslated(call, "the sorted sequence must have rank 1")
    found = relax("bucketize", call.exprs[1], call.exprs[0], True, call.flag("right"))
    return cast(found, call.dtype() or "int32")


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


def _fifo_buffer(call: RelayCall) -> Expr:
    data, buffer = call.exprs
    axis = axis_of(call)
    joined = relax("concat", (buffer, data), axis)
    added, kept = dims(call)[axis], dims(call, 1)[axis]
    return relax("strided_slice", joined, (axis,), (added,), (calculate("+", added, kept),))


def _sliding_window(call: RelayCall) -> Expr:
    """Stack the windows: as many axes of positions as there are axes of windows."""
    axis, window, steps = axis_of(call), call.ints("window_shape"), call.ints("strides")
    value, count = call.exprs[0], rank(call)
    for k, (extent, step) in enumerate(zip(window, steps, strict=True)):
        at = axis + k
        whole = size(call, at)
        starts = range(0, whole - extent + 1, step)
        inner = at + k
        # The axis of positions of this round goes behind those of the rounds before it.
        parts = tuple(relax("strided_slice", value, (inner,), (start,), (start + extent,)) for start in starts)
        value = relax("stack", parts, at)
    assert count >= axis + len(window), "the relation has seen to it"
    return value


def _get_valid_counts(call: RelayCall) -> Expr:
    threshold = float(number(call, 1))
    name = "vision.get_valid_counts"
    return relax(name, call.exprs[0], threshold, call.int_("id_index"), call.int_("score_index"))


def _all_class_suppression(call: RelayCall) -> Expr:
    return relax("vision.all_class_non_max_suppression", *call.exprs, call.text("output_format"))


def _einsum(call: RelayCall) -> Expr:
    return relax("einsum", fields(call), call.text("equation"))


def _nothing(call: RelayCall) -> Expr:
    return Tuple(())


RULES: Rules = MappingProxyType(
    {
        "take": _take,
        "gather": _gather,
        "gather_nd": _gather_nd,
        "scatter": _scatter("update"),
        "scatter_add": _scatter("add"),
        "scatter_elements": _scatter(""),
        "scatter_nd": _scatter_nd,
        "one_hot": _one_hot,
        "adv_index": _adv_index,
        "argwhere": _argwhere,
        "unravel_index": _unravel_index,
        "searchsorted": _searchsorted,
        "sparse_to_dense": _sparse_to_dense,
        "sort": _sort,
        "argsort": _argsort,
        "invert_permutation": _invert_permutation,
        "nn.fifo_buffer": _fifo_buffer,
        "sliding_window": _sliding_window,
        "vision.get_valid_counts": _get_valid_counts,
        "vision.all_class_non_max_suppression": _all_class_suppression,
        "einsum": _einsum,
        "memory.kill": _nothing,
    }
)
