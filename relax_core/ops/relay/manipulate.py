"""Relay's operators that move elements: reshape, transpose, concatenate, split, layouts."""

from dataclasses import replace
from itertools import pairwise
from types import MappingProxyType

from relax_core.ir.prim import AnyDim, IntImm, PrimExpr
from relax_core.ir.types import Dims, TensorType, TupleType, Type
from relax_core.ops.relay.dims import (
    ONE,
    broadcast,
    calculate,
    dims_of,
    is_same,
    layout_parts,
    normal_axis,
    product,
    replaced,
    size,
    stored_axes,
    whole_axes,
)
from relax_core.ops.relay.elementwise import common_dtype, identity
from relax_core.ops.relay.rare import mapped_layout, sized_layout
from relax_core.ops.relay.show import show_dim, show_dims, show_type
from relax_core.ops.relay.spec import RelayCall, op
from relax_core.ops.spec import REQUIRED


def new_dims(call: RelayCall, name: str) -> Dims:
    """Return an attribute that is a shape; what is no number there is an unknown size."""
    value = call.attrs.get(name)
    if isinstance(value, int):
        return dims_of(value)
    if not isinstance(value, tuple):
        raise call.refuse(f"expects a shape as `{name}`, got {value!r}", code="RY010")
    return tuple(IntImm(item) if isinstance(item, int) else AnyDim() for item in value)


def reshaped(call: RelayCall, old: Dims, new: tuple[int, ...], *, allows_zero: bool = False) -> Dims:
    """Return the sizes that `reshape` gives.

    Of the special sizes 0 copies the one at its place, -1 is what is left, -2 copies all others, -3 merges two, and
    -4 splits one into the two that follow.
    """
    result: list[PrimExpr] = []
    source, place, rest = list(old), 0, None
    # What a -1 divides: the sizes that no special one takes, by those that are given.
    others, given = list(old), list[PrimExpr]()
    k = 0
    while k < len(new):
        value = new[k]
        taken: Dims = ()
        used = 1
        if value in (-4, -3, -2) or (value == 0 and not allows_zero):
            used = {-3: 2, -2: len(source) - place}.get(value, 1)
            if place + used > len(source):
                raise call.refuse(f"cannot read size {place} of {show_dims(old)} for the {value} in {list(new)}")
            taken = tuple(source[place : place + used])
            others[place : place + used] = [ONE] * used
        match value:
            case -4:
                result.extend(_halves(call, product(taken), new[k + 1 : k + 3]))
                k += 2
            case -3:
                result.append(product(taken))
            case _ if taken or value == -2:
                result.extend(taken)
            case -1:
                if rest is not None:
                    raise call.refuse(f"allows one -1, got {list(new)}", "give all sizes but one")
                rest = len(result)
                result.append(ONE)
            case _:
                result.append(IntImm(value))
                given.append(result[-1])
        place += used
        k += 1
    if rest is not None:
        result[rest] = _rest(call, tuple(others), tuple(given), new)
    elif is_same(product(old), product(tuple(result))) is False:
        counts = f"{show_dim(product(old))} is not {show_dim(product(tuple(result)))}"
        raise call.refuse(
            f"expects as many elements as before, got {show_dims(old)} and {show_dims(tuple(result))}: {counts}",
            "write -1 for the size that follows from the others",
        )
    return tuple(result)


def _halves(call: RelayCall, whole: PrimExpr, parts: tuple[int, ...]) -> tuple[PrimExpr, PrimExpr]:
    match parts:
        case (-1, second) if second > 0:
            return calculate("//", whole, second), IntImm(second)
        case (first, -1) if first > 0:
            return IntImm(first), calculate("//", whole, first)
        case (first, second):
            if is_same(whole, IntImm(first * second)) is False:
                raise call.refuse(f"cannot split size {show_dim(whole)} into {first} and {second}")
            return IntImm(first), IntImm(second)
        case _:
            raise call.refuse("expects two sizes behind -4")


def _rest(call: RelayCall, old: Dims, others: Dims, new: tuple[int, ...]) -> PrimExpr:
    total, known = product(old), product(others)
    count, divisor = size(total), size(known)
    if divisor == 0 or (count is not None and divisor is not None and count % divisor):
        raise call.refuse(f"cannot divide {count} elements by {divisor} for the -1 in {list(new)}")
    return calculate("//", total, known)


def _reshape(call: RelayCall) -> Type:
    data, wanted = call.tensor(), new_dims(call, "newshape")
    numbers = tuple(size(dim) for dim in wanted)
    fixed = tuple(item for item in numbers if item is not None)
    if len(fixed) < len(numbers) or data.dims is None:
        return TensorType(tuple(AnyDim() if (size(dim) or -1) < 0 else dim for dim in wanted), data.dtype)
    return TensorType(reshaped(call, data.dims, fixed, allows_zero=call.flag("allowzero")), data.dtype)


def _reverse_reshape(call: RelayCall) -> Type:
    data = call.tensor()
    if data.dims is None:
        return data
    dims = reshaped(call, tuple(reversed(data.dims)), tuple(reversed(call.ints("newshape"))))
    return TensorType(tuple(reversed(dims)), data.dtype)


def _reshape_like(call: RelayCall) -> Type:
    lhs, rhs = call.tensor(0), call.tensor(1)
    if lhs.dims is None or rhs.dims is None:
        return TensorType(None, lhs.dtype)
    left, right = (_range_of(call, side, dims) for side, dims in (("lhs", lhs.dims), ("rhs", rhs.dims)))
    dims = (*lhs.dims[: left[0]], *rhs.dims[right[0] : right[1]], *lhs.dims[left[1] :])
    if is_same(product(dims), product(lhs.dims)) is False:
        raise call.refuse(f"expects as many elements as before, got {show_dims(lhs.dims)} and {show_dims(dims)}")
    return TensorType(dims, lhs.dtype)


def _range_of(call: RelayCall, side: str, dims: Dims) -> tuple[int, int]:
    begin = call.int_(f"{side}_begin")
    end = call.attrs.get(f"{side}_end")
    stop = len(dims) if not isinstance(end, int) else int(end) + (len(dims) if end < 0 else 0)
    return begin + (len(dims) if begin < 0 else 0), stop


def _transpose(call: RelayCall) -> Type:
    data = call.tensor()
    if data.dims is None:
        return data
    rank = len(data.dims)
    axes = tuple(normal_axis(call, axis, rank) for axis in call.ints("axes")) if call.has("axes") else ()
    order = axes or tuple(reversed(range(rank)))
    if sorted(order) != list(range(rank)):
        raise call.refuse(f"expects each of {rank} axes once, got {list(call.ints('axes'))}")
    return TensorType(tuple(data.dims[axis] for axis in order), data.dtype)


def _expand_dims(call: RelayCall) -> Type:
    data = call.tensor()
    if data.dims is None:
        return data
    axis = normal_axis(call, call.int_("axis"), len(data.dims) + 1)
    return TensorType((*data.dims[:axis], *(ONE,) * call.int_("num_newaxis"), *data.dims[axis:]), data.dtype)


def _squeeze(call: RelayCall) -> Type:
    data = call.tensor()
    if data.dims is None:
        return data
    if call.attrs.get("axis") is None:
        is_known = all(size(dim) is not None for dim in data.dims)
        return TensorType(tuple(dim for dim in data.dims if size(dim) != 1) if is_known else None, data.dtype)
    axes = {normal_axis(call, axis, len(data.dims)) for axis in call.ints("axis")}
    for axis in axes:
        if is_same(data.dims[axis], ONE) is False:
            raise call.refuse(f"removes axes of size 1, got {show_dim(data.dims[axis])} at axis {axis}")
    return TensorType(tuple(dim for k, dim in enumerate(data.dims) if k not in axes), data.dtype)


def _joined(call: RelayCall, *, is_stack: bool) -> Type:
    tensors = call.tensors()
    if not tensors:
        raise call.refuse("expects at least one tensor")
    dtype = common_dtype(call, tensors)
    known = [item.dims for item in tensors if item.dims is not None]
    if len(known) < len(tensors):
        return TensorType(None, dtype)
    if len({len(dims) for dims in known}) > 1:
        raise call.refuse(f"expects equal ranks, got {', '.join(show_type(item) for item in tensors)}")
    axis = normal_axis(call, call.int_("axis"), len(known[0]) + is_stack)
    merged = list(known[0])
    for dims in known[1:]:
        for k, (a, b) in enumerate(zip(merged, dims, strict=True)):
            if k == axis and not is_stack:
                merged[k] = calculate("+", a, b)
            elif is_same(a, b) is False:
                types = ", ".join(show_type(item) for item in tensors)
                raise call.refuse(f"expects equal sizes at axis {k}, got {show_dim(a)} and {show_dim(b)}: {types}")
            elif isinstance(a, AnyDim):
                merged[k] = b
    if is_stack:
        merged.insert(axis, IntImm(len(tensors)))
    return TensorType(tuple(merged), dtype)


def concatenate(call: RelayCall) -> Type:
    """Relation: the fields of a tuple one behind the other along `axis`."""
    return _joined(call, is_stack=False)


def _split(call: RelayCall) -> Type:
    data = call.tensor()
    places = call.attrs.get("indices_or_sections")
    if data.dims is None:
        count = places if isinstance(places, int) else len(call.ints("indices_or_sections")) + 1
        return TupleType((TensorType(None, data.dtype),) * count)
    axis = normal_axis(call, call.int_("axis"), len(data.dims))
    whole = data.dims[axis]
    if isinstance(places, int):
        number = size(whole)
        if places < 1 or (number is not None and number % places):
            raise call.refuse(f"cannot split axis {axis} of size {show_dim(whole)} into {places} equal parts")
        parts: list[PrimExpr] = [calculate("//", whole, places)] * places
    else:
        bounds: list[PrimExpr] = [IntImm(0), *dims_of(*call.ints("indices_or_sections")), whole]
        parts = [calculate("-", end, start) for start, end in pairwise(bounds)]
        if any((size(part) or 0) < 0 for part in parts):
            raise call.refuse(f"expects ascending places below {show_dim(whole)}, got {list(map(show_dim, bounds))}")
    return TupleType(tuple(TensorType(replaced(data.dims, axis, part), data.dtype) for part in parts))


def broadcast_to(call: RelayCall) -> Type:
    """Relation: the argument in a wider shape."""
    data, wanted = call.tensor(), new_dims(call, "shape")
    if data.dims is not None:
        if len(data.dims) > len(wanted):
            raise call.refuse(f"cannot lower the rank of {show_type(data)} to {len(wanted)}")
        wider = broadcast(call, data.dims, wanted)
        if any(is_same(a, b) is False for a, b in zip(wider, wanted, strict=True)):
            raise call.refuse(f"cannot shrink {show_type(data)} to {show_dims(wanted)}", code="RY008")
    return TensorType(wanted, data.dtype)


def _like(call: RelayCall) -> Type:
    return replace(call.tensor(1), dtype=call.tensor(0).dtype)


def _collapse_to(call: RelayCall) -> Type:
    return TensorType(new_dims(call, "shape"), call.tensor().dtype)


def _repeat(call: RelayCall) -> Type:
    data = call.tensor()
    if data.dims is None:
        return data
    axis = normal_axis(call, call.int_("axis"), len(data.dims))
    return TensorType(replaced(data.dims, axis, calculate("*", data.dims[axis], call.int_("repeats"))), data.dtype)


def _tile(call: RelayCall) -> Type:
    data = call.tensor()
    if data.dims is None:
        return data
    counts = call.ints("reps")
    rank = max(len(data.dims), len(counts))
    dims = (ONE,) * (rank - len(data.dims)) + data.dims
    factors = (1,) * (rank - len(counts)) + counts
    return TensorType(tuple(calculate("*", a, b) for a, b in zip(dims, factors, strict=True)), data.dtype)


def _reverse(call: RelayCall) -> Type:
    data = call.tensor()
    if data.dims is not None:
        normal_axis(call, call.int_("axis"), len(data.dims))
    return data


def _layout_transform(call: RelayCall) -> Type:
    data, source, target = call.tensor(), call.text("src_layout"), call.text("dst_layout")
    if data.dims is None or source == target:
        return data
    if not layout_parts(source) or not layout_parts(target):
        raise call.refuse(f'expects two layouts, got "{source}" and "{target}"', code="RY010")
    return TensorType(stored_axes(call, whole_axes(call, data.dims, source), target), data.dtype)


_LIKE_RANGE = MappingProxyType({"lhs_begin": 0, "lhs_end": None, "rhs_begin": 0, "rhs_end": None})
_LAYOUTS = MappingProxyType({"src_layout": REQUIRED, "dst_layout": REQUIRED})

SPECS = (
    op("reshape", "data", _reshape, {"newshape": REQUIRED, "allowzero": False}, relax="relax.reshape"),
    op("contrib_reverse_reshape", "data", _reverse_reshape, {"newshape": REQUIRED}, relax="relax.reshape"),
    op("reshape_like", "lhs rhs", _reshape_like, _LIKE_RANGE, relax="relax.reshape"),
    op("transpose", "data", _transpose, {"axes": None}, relax="relax.permute_dims"),
    op("expand_dims", "data", _expand_dims, {"axis": REQUIRED, "num_newaxis": 1}, relax="relax.expand_dims"),
    op("squeeze", "data", _squeeze, {"axis": None}, relax="relax.squeeze"),
    op("concatenate", "data", concatenate, {"axis": 0}, relax="relax.concat"),
    op("stack", "data", lambda call: _joined(call, is_stack=True), {"axis": 0}, relax="relax.stack"),
    op("split", "data", _split, {"indices_or_sections": REQUIRED, "axis": 0}, relax="relax.split"),
    op("broadcast_to", "data", broadcast_to, {"shape": REQUIRED, "dtype": ""}, relax="relax.broadcast_to"),
    op("broadcast_to_like", "data broadcast_type", _like, relax="relax.broadcast_to"),
    op("collapse_sum_like", "data collapse_type", _like, relax="relax.collapse_sum_like"),
    op("collapse_sum_to", "data", _collapse_to, {"shape": REQUIRED}, relax="relax.collapse_sum_to"),
    op("repeat", "data", _repeat, {"repeats": REQUIRED, "axis": REQUIRED}, relax="relax.repeat"),
    op("tile", "data", _tile, {"reps": REQUIRED}, relax="relax.tile"),
    op("reverse", "data", _reverse, {"axis": REQUIRED}, relax="relax.flip"),
    op("reverse_sequence", "data seq_lengths", identity, {"seq_axis": 1, "batch_axis": 0},
       relax="relax.reverse_sequence"),
    op("layout_transform", "data", _layout_transform, _LAYOUTS, relax="relax.layout_transform"),
    op("auto_scheduler_layout_transform", "data", sized_layout, _LAYOUTS, why="a layout that the auto scheduler chose"),
    op("meta_schedule_layout_transform", "data", mapped_layout, {"index_map": REQUIRED},
       relax="relax.layout_transform"),
    op("trilu", "data k", identity, {"upper": True}, relax="relax.tril"),
    op("matrix_set_diag", "input diagonal", identity, {"k1": 0, "k2": 0, "super_diag_right_align": True,
                                                       "sub_diag_right_align": False},
       why="a choice between the matrix and the diagonals, element by element"),
)  # fmt: skip
