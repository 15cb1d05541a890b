"""Operators of which a size, a shape or an axis is known only when the program runs, in Relax.

Sizes are tensors here: positions are counted up to them, elements are taken at computed positions, and shapes are made
of them again.
"""

from types import MappingProxyType

from relax_core.ir.expr import Expr, Tuple
from relax_core.ops.relay.spec import RelayCall
from relax_core.ops.relay.to_relax_composed import matrix_set_diag
from relax_core.ops.relay.to_relax_index import hot, sequence_mask, top
from relax_core.ops.relay.to_relax_make import (
    Rule,
    Rules,
    axis_of,
    cast,
    counted,
    dtype_of,
    extent,
    inserted,
    is_sized,
    rank,
    relax,
    scalar,
    shape_tensor,
    size,
    to_shape,
    untranslated,
    vector,
)
from relax_core.ops.relay.to_relax_reduce import RULES as STATIC
from relax_core.ops.relay.to_relax_shape import RULES as SHAPES

_SIZE = "int64"


def _either(name: str, static: Rule, dynamic: Rule, *literals: int) -> tuple[str, Rule]:
    """Return the rule that takes `dynamic` where one of the arguments numbered is no literal."""

    def rule(call: RelayCall) -> Expr:
        is_known = all(call.constant(index) is not None for index in literals)
        return static(call) if is_known else dynamic(call)

    return name, rule


def _integer(call: RelayCall, index: int) -> Expr:
    """Return an argument of one integer as a vector of one."""
    return relax("reshape", cast(call.exprs[index], _SIZE), (1,))


def _element(values: Expr, place: int) -> Expr:
    return relax("strided_slice", values, (0,), (place,), (place + 1,))


def _sequence_mask(call: RelayCall) -> Expr:
    if is_sized(call):
        return sequence_mask(call)
    axis, count = axis_of(call), rank(call)
    positions = cast(counted(extent(call, axis)), dtype_of(call, 1))
    is_inside = relax(
        "less", relax("expand_dims", positions, (1 - axis,)), relax("expand_dims", call.exprs[1], (axis,))
    )
    return relax("where", inserted(is_inside, tuple(range(2, count))), call.exprs[0],
                 scalar(call.number("mask_value"), dtype_of(call)))  # fmt: skip


def _matrix_set_diag(call: RelayCall) -> Expr:
    """Diagonal by diagonal, each element is its own or that of the diagonal which it stands on."""
    if is_sized(call) and is_sized(call, 1):
        return matrix_set_diag(call)
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
        value = relax("where", relax("equal", offset, scalar(k, _SIZE)), chosen, value)
    return value


def _one_hot(call: RelayCall) -> Expr:
    return hot(call, counted(_integer(call, 3)))


def _dyn_top(call: RelayCall) -> Expr:
    return _ordered(call, _integer(call, 1))


def _top(call: RelayCall) -> Expr:
    is_known = call.int_("k") >= 1 or is_sized(call)
    return top(call, call.int_("k")) if is_known else _ordered(call, vector((0,)))


def _ordered(call: RelayCall, wanted: Expr) -> Expr:
    """Order all elements along the axis, and keep the first of them; all if fewer than one is wanted."""
    axis, data = axis_of(call), call.exprs[0]
    whole = extent(call, axis)
    kept = relax("where", relax("less", wanted, vector((1,))), whole, relax("minimum", wanted, whole))
    order = relax("argsort", data, axis, not call.flag("is_ascend"), _SIZE)
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


def _trilu(call: RelayCall) -> Expr:
    count = rank(call)
    i, j = relax("expand_dims", counted(extent(call, count - 2)), (1,)), counted(extent(call, count - 1))
    above = relax("subtract", relax("subtract", j, i), _integer(call, 1))
    is_kept = relax("greater_equal" if call.flag("upper") else "less_equal", above, scalar(0, _SIZE))
    return relax("where", is_kept, call.exprs[0], scalar(0, dtype_of(call)))


RULES: Rules = MappingProxyType(
    {
        "sequence_mask": _sequence_mask,
        "matrix_set_diag": _matrix_set_diag,
        "topk": _top,
        **dict(
            (
                _either("dyn.one_hot", STATIC["dyn.one_hot"], _one_hot, 3),
                _either("dyn.topk", STATIC["dyn.topk"], _dyn_top, 1),
                _either("dyn.tile", STATIC["dyn.tile"], _tile, 1),
                _either("dyn.nn.pad", STATIC["dyn.nn.pad"], _pad, 1, 2),
                _either("dyn.reshape", STATIC["dyn.reshape"], _reshape, 1),
                _either("dyn.expand_dims", STATIC["dyn.expand_dims"], _expand_dims, 1),
                _either("dyn.squeeze", STATIC["dyn.squeeze"], _squeeze, 1),
                _either("trilu", SHAPES["trilu"], _trilu, 1),
            )
        ),
    }
)
