"""Relay's operators that rearrange tensors: reshape, transpose, concatenate, split, slices."""

from dataclasses import replace
from itertools import pairwise
from types import MappingProxyType

from relax_core.ir.expr import Dims, Expr, TensorType, Tuple, TupleType, Type
from relax_core.ir.integer.prove import constant_value
from relax_core.ir.prim import AnyDim, IntImm, PrimExpr
from relax_core.ops.operands import replaced
from relax_core.ops.relay.dims import (
    ONE,
    broadcast,
    calculate,
    dims_of,
    is_same,
    known_size,
    normal_axis,
    product,
)
from relax_core.ops.relay.entry import op
from relax_core.ops.relay.show import show_dim, show_dims, show_type
from relax_core.ops.relay.spec import Relation, RelayCall
from relax_core.ops.relay.tensor.elementwise import identity
from relax_core.ops.relay.translation import (
    Rule,
    axis_of,
    cast,
    counted,
    dims,
    dtype_of,
    either,
    extent,
    fields,
    literal,
    number,
    rank,
    relax,
    scalar,
    size,
    untranslated,
)
from relax_core.ops.spec import REQUIRED

_LIKE_RANGE = MappingProxyType({"lhs_begin": 0, "lhs_end": None, "rhs_begin": 0, "rhs_end": None})


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
    count, divisor = known_size(total), known_size(known)
    if divisor == 0 or (count is not None and divisor is not None and count % divisor):
        raise call.refuse(f"cannot divide {count} elements by {divisor} for the -1 in {list(new)}")
    return calculate("//", total, known)


def _reshape_type(call: RelayCall) -> Type:
    data, wanted = call.tensor(), new_dims(call, "newshape")
    numbers = tuple(known_size(dim) for dim in wanted)
    fixed = tuple(item for item in numbers if item is not None)
    if len(fixed) < len(numbers) or data.dims is None:
        return TensorType(tuple(AnyDim() if (known_size(dim) or -1) < 0 else dim for dim in wanted), data.dtype)
    return TensorType(reshaped(call, data.dims, fixed, allows_zero=call.flag("allowzero")), data.dtype)


def _reverse_reshape_type(call: RelayCall) -> Type:
    data = call.tensor()
    if data.dims is None:
        return data
    dims = reshaped(call, tuple(reversed(data.dims)), tuple(reversed(call.ints("newshape"))))
    return TensorType(tuple(reversed(dims)), data.dtype)


def _reshape_like_type(call: RelayCall) -> Type:
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


def _split_type(call: RelayCall) -> Type:
    data = call.tensor()
    places = call.attrs.get("indices_or_sections")
    if data.dims is None:
        count = places if isinstance(places, int) else len(call.ints("indices_or_sections")) + 1
        return TupleType((TensorType(None, data.dtype),) * count)
    axis = normal_axis(call, call.int_("axis"), len(data.dims))
    whole = data.dims[axis]
    if isinstance(places, int):
        number = known_size(whole)
        if places < 1 or (number is not None and number % places):
            raise call.refuse(f"cannot split axis {axis} of size {show_dim(whole)} into {places} equal parts")
        parts: list[PrimExpr] = [calculate("//", whole, places)] * places
    else:
        bounds: list[PrimExpr] = [IntImm(0), *dims_of(*call.ints("indices_or_sections")), whole]
        parts = [calculate("-", end, start) for start, end in pairwise(bounds)]
        if any((known_size(part) or 0) < 0 for part in parts):
            raise call.refuse(f"expects ascending places below {show_dim(whole)}, got {list(map(show_dim, bounds))}")
    return TupleType(tuple(TensorType(replaced(data.dims, axis, part), data.dtype) for part in parts))


def _broadcast_to_type(call: RelayCall) -> Type:
    """Relation: the argument in a wider shape."""
    data, wanted = call.tensor(), new_dims(call, "shape")
    if data.dims is not None:
        if len(data.dims) > len(wanted):
            raise call.refuse(f"cannot lower the rank of {show_type(data)} to {len(wanted)}")
        wider = broadcast(call, data.dims, wanted)
        if any(is_same(a, b) is False for a, b in zip(wider, wanted, strict=True)):
            raise call.refuse(f"cannot shrink {show_type(data)} to {show_dims(wanted)}", code="RY008")
    return TensorType(wanted, data.dtype)


def _like_type(call: RelayCall) -> Type:
    return replace(call.tensor(1), dtype=call.tensor(0).dtype)


def _collapse_to_type(call: RelayCall) -> Type:
    return TensorType(new_dims(call, "shape"), call.tensor().dtype)


def _strided_slice_type(call: RelayCall) -> Type:
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
        dims[place] = _sliced(dims[place], begin[k], stop, stride)
    return TensorType(tuple(dims), data.dtype)


def _sliced(dim: PrimExpr, begin: int, end: int, stride: int) -> PrimExpr:
    """Return how many elements a slice takes; negative bounds count from the end, as Python's do."""
    whole = known_size(dim)
    if whole is None:
        is_all = begin == 0 and end >= 2**31 - 1 and stride == 1
        return dim if is_all else AnyDim()
    return IntImm(len(range(*slice(begin, None if end < -whole and stride < 0 else end, stride).indices(whole))))


def _slice_like_type(call: RelayCall) -> Type:
    data, like = call.tensor(0), call.tensor(1)
    if data.dims is None or like.dims is None:
        return data
    axes = call.ints("axes") if call.has("axes") else tuple(range(min(len(data.dims), len(like.dims))))
    dims = data.dims
    for axis in axes:
        place = normal_axis(call, axis, len(dims))
        normal_axis(call, axis, len(like.dims))
        old, new = known_size(dims[place]), like.dims[axis]
        if old is not None and (known_size(new) or 0) > old:
            raise call.refuse(f"cannot cut {show_dims(data.dims)} to {show_dims(like.dims)}: axis {axis} is too short")
        dims = replaced(dims, place, new)
    return TensorType(dims, data.dtype)


def _wanted_dims(call: RelayCall, relation: Relation) -> Dims:
    """Return the sizes of the result, which the operator's relation gives."""
    found = relation(call)
    if not isinstance(found, TensorType) or found.dims is None:
        raise untranslated(call, "the sizes of the result must be known")
    if any(isinstance(item, AnyDim) for item in found.dims):
        raise untranslated(call, "the sizes of the result must be known")
    return found.dims


def _to_dims(name: str, relation: Relation) -> Rule:
    """Return the rule of an operator whose result has the sizes that `relation` gives."""

    def rule(call: RelayCall) -> Expr:
        return relax(name, call.exprs[0], _wanted_dims(call, relation))

    return rule


def _transpose(call: RelayCall) -> Expr:
    axes = call.ints("axes") if call.has("axes") else None
    return relax("permute_dims", call.exprs[0], axes and tuple(axis % rank(call) for axis in axes))


def _expand_dims(call: RelayCall) -> Expr:
    axis, count = call.int_("axis"), call.int_("num_newaxis")
    start = axis + rank(call) + 1 if axis < 0 else axis
    if not count:
        return call.exprs[0]
    return relax("expand_dims", call.exprs[0], tuple(range(start, start + count)))


def _squeeze(call: RelayCall) -> Expr:
    axes = call.ints("axis") if call.attrs.get("axis") is not None else None
    if axes == ():
        return call.exprs[0]
    return relax("squeeze", call.exprs[0], axes)


def joined(name: str) -> Rule:
    """Return the rule that puts the fields of a tuple one behind the other, or one above the other."""

    def rule(call: RelayCall) -> Expr:
        return relax(name, fields(call), call.int_("axis"))

    return rule


def _split(call: RelayCall) -> Expr:
    places = call.attrs.get("indices_or_sections")
    sections = places if isinstance(places, int) else call.ints("indices_or_sections")
    made = relax("split", call.exprs[0], sections, call.int_("axis"))
    # A single part is a tuple in Relay, and a tensor in Relax.
    return Tuple((made,)) if sections in (1, ()) else made


def _broadcast_to_like(call: RelayCall) -> Expr:
    data, like = call.exprs
    known = call.dims(1)
    is_known = known is not None and not any(isinstance(item, AnyDim) for item in known)
    return relax("broadcast_to", data, known if is_known else relax("shape_of", like))


def _tile(call: RelayCall) -> Expr:
    return relax("tile", call.exprs[0], call.ints("reps"))


def _reverse(call: RelayCall) -> Expr:
    return relax("flip", call.exprs[0], axis_of(call))


def _trilu(call: RelayCall) -> Expr:
    name = "triu" if call.flag("upper") else "tril"
    return relax(name, call.exprs[0], int(number(call, 1)))


def _meshgrid(call: RelayCall) -> Expr:
    return relax("meshgrid", fields(call), call.text("indexing"))


def _strided_slice(call: RelayCall) -> Expr:
    begin, end = call.ints("begin"), call.ints("end")
    strides = call.ints("strides") if call.has("strides") else ()
    axes = call.ints("axes") if call.has("axes") else tuple(range(len(begin)))
    axes = tuple(axis % rank(call) for axis in axes)
    end = tuple(end[k] if k < len(end) else size(call, axis) for k, axis in enumerate(axes))
    if call.text("slice_mode") == "size":
        end = tuple(
            size(call, axis) if count < 0 else start + count
            for axis, start, count in zip(axes, begin, end, strict=True)
        )
        strides = ()
    steps = strides * len(axes) if len(strides) == 1 else (*strides, *(1,) * (len(axes) - len(strides)))
    return relax("strided_slice", call.exprs[0], axes, begin, end, steps)


def _slice_like(call: RelayCall) -> Expr:
    given = call.ints("axes") if call.has("axes") else tuple(range(min(rank(call), rank(call, 1))))
    axes = tuple(axis % rank(call) for axis in given)
    ends = tuple(dims(call, 1)[axis] for axis in axes)
    return relax("strided_slice", call.exprs[0], axes, (0,) * len(axes), ends, (1,) * len(axes))


def _strided_set(call: RelayCall) -> Expr:
    data, value = call.exprs[:2]
    begin, end, strides = ([int(item) for item in literal(call, k)] for k in (2, 3, 4))
    where = [
        (axis, b, e, s)
        for axis, (b, e, s) in enumerate(zip(begin, end, strides or [1] * len(begin), strict=True))
        if (b, e, s) != (0, constant_value(dims(call)[axis]), 1)
    ]
    if len(where) > 1 or any(s < 1 for _, _, _, s in where):
        raise untranslated(call, "the slice must be one of a single axis, forwards")
    axis, b, e, s = where[0] if where else (0, 0, size(call, 0), 1)
    return relax("slice_scatter", data, value, b, e, s, axis)


def _dynamic_trilu(call: RelayCall) -> Expr:
    count = rank(call)
    i, j = relax("expand_dims", counted(extent(call, count - 2)), (1,)), counted(extent(call, count - 1))
    above = relax("subtract", relax("subtract", j, i), relax("reshape", cast(call.exprs[1], "int64"), (1,)))
    is_kept = relax("greater_equal" if call.flag("upper") else "less_equal", above, scalar(0, "int64"))
    return relax("where", is_kept, call.exprs[0], scalar(0, dtype_of(call)))


SPECS = (
    op("reshape", "data", _to_dims("reshape", _reshape_type), {"newshape": REQUIRED, "allowzero": False},
       relax="reshape", relation=_reshape_type),
    op("contrib_reverse_reshape", "data", _to_dims("reshape", _reverse_reshape_type), {"newshape": REQUIRED},
       relax="reshape", relation=_reverse_reshape_type),
    op("reshape_like", "lhs rhs", _to_dims("reshape", _reshape_like_type), _LIKE_RANGE, relax="reshape",
       relation=_reshape_like_type),
    op("transpose", "data", _transpose, {"axes": None}, relax="permute_dims"),
    op("expand_dims", "data", _expand_dims, {"axis": REQUIRED, "num_newaxis": 1}, relax="expand_dims"),
    op("squeeze", "data", _squeeze, {"axis": None}, relax="squeeze"),
    op("concatenate", "data", joined("concat"), {"axis": 0}, relax="concat"),
    op("stack", "data", joined("stack"), {"axis": 0}, relax="stack"),
    op("split", "data", _split, {"indices_or_sections": REQUIRED, "axis": 0}, relax="split", relation=_split_type),
    op("broadcast_to", "data", _to_dims("broadcast_to", _broadcast_to_type), {"shape": REQUIRED, "dtype": ""},
       relax="broadcast_to", relation=_broadcast_to_type),
    op("broadcast_to_like", "data broadcast_type", _broadcast_to_like, relax="broadcast_to", relation=_like_type),
    op("collapse_sum_like", "data collapse_type", "collapse_sum_like", relation=_like_type),
    op("collapse_sum_to", "data", _to_dims("collapse_sum_to", _collapse_to_type), {"shape": REQUIRED},
       relax="collapse_sum_to", relation=_collapse_to_type),
    op("repeat", "data", "repeat", {"repeats": REQUIRED, "axis": REQUIRED}),
    op("tile", "data", _tile, {"reps": REQUIRED}, relax="tile"),
    op("reverse", "data", _reverse, {"axis": REQUIRED}, relax="flip"),
    op("reverse_sequence", "data seq_lengths", "reverse_sequence", {"seq_axis": 1, "batch_axis": 0},
       relation=identity),
    op("trilu", "data k", either(_trilu, _dynamic_trilu, 1), {"upper": True}, relax="tril triu", relation=identity),
    op("meshgrid", "data", _meshgrid, {"indexing": "ij"}, relax="meshgrid"),
    op("strided_slice", "data begin? end? strides?", _strided_slice,
       {"begin": REQUIRED, "end": REQUIRED, "strides": None, "slice_mode": "end", "axes": None},
       relax="strided_slice", relation=_strided_slice_type),
    op("strided_set", "data v begin end strides", _strided_set, relax="slice_scatter", relation=identity),
    op("slice_like", "data shape_like", _slice_like, {"axes": None}, relax="strided_slice",
       relation=_slice_like_type),
)  # fmt: skip
