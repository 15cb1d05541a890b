"""Operators that rearrange tensors, in Relax."""

from types import MappingProxyType

from relax_core.ir.expr import Expr
from relax_core.ir.integer.prove import constant_value
from relax_core.ir.prim import AnyDim
from relax_core.ir.types import Dims, TensorType
from relax_core.ops.relay import manipulate
from relax_core.ops.relay.spec import Relation, RelayCall
from relax_core.ops.relay.to_relax_make import (
    Rule,
    Rules,
    axis_of,
    dims,
    fields,
    literal,
    number,
    rank,
    relax,
    size,
    untranslated,
)

_RELATION_OF = MappingProxyType({spec.name: spec.relation for spec in manipulate.SPECS})


def wanted_dims(call: RelayCall, relation: Relation | None) -> Dims:
    """Return the sizes of the result, which the operator's relation gives."""
    found = relation(call) if relation is not None else None
    if not isinstance(found, TensorType) or found.dims is None:
        raise untranslated(call, "the sizes of the result must be known")
    if any(isinstance(item, AnyDim) for item in found.dims):
        raise untranslated(call, "the sizes of the result must be known")
    return found.dims


def _to_dims(name: str, relation: str) -> Rule:
    """Return the rule of an operator whose result has the sizes that `relation` gives."""

    def rule(call: RelayCall) -> Expr:
        return relax(name, call.exprs[0], wanted_dims(call, _RELATION_OF[relation]))

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


def _join(name: str) -> Rule:
    def rule(call: RelayCall) -> Expr:
        return relax(name, fields(call), call.int_("axis"))

    return rule


def _split(call: RelayCall) -> Expr:
    places = call.attrs.get("indices_or_sections")
    sections = places if isinstance(places, int) else call.ints("indices_or_sections")
    return relax("split", call.exprs[0], sections, call.int_("axis"))


def _broadcast_to_like(call: RelayCall) -> Expr:
    data, like = call.exprs
    known = call.dims(1)
    is_known = known is not None and not any(isinstance(item, AnyDim) for item in known)
    return relax("broadcast_to", data, known if is_known else relax("shape_of", like))


def _repeat(call: RelayCall) -> Expr:
    return relax("repeat", call.exprs[0], call.int_("repeats"), call.int_("axis"))


def _tile(call: RelayCall) -> Expr:
    return relax("tile", call.exprs[0], call.ints("reps"))


def _reverse(call: RelayCall) -> Expr:
    return relax("flip", call.exprs[0], axis_of(call))


def _reverse_sequence(call: RelayCall) -> Expr:
    return relax("reverse_sequence", *call.exprs, call.int_("seq_axis"), call.int_("batch_axis"))


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


RULES: Rules = MappingProxyType(
    {
        "reshape": _to_dims("reshape", "reshape"),
        "contrib_reverse_reshape": _to_dims("reshape", "contrib_reverse_reshape"),
        "reshape_like": _to_dims("reshape", "reshape_like"),
        "broadcast_to": _to_dims("broadcast_to", "broadcast_to"),
        "collapse_sum_to": _to_dims("collapse_sum_to", "collapse_sum_to"),
        "transpose": _transpose,
        "expand_dims": _expand_dims,
        "squeeze": _squeeze,
        "concatenate": _join("concat"),
        "stack": _join("stack"),
        "split": _split,
        "broadcast_to_like": _broadcast_to_like,
        "repeat": _repeat,
        "tile": _tile,
        "reverse": _reverse,
        "reverse_sequence": _reverse_sequence,
        "trilu": _trilu,
        "meshgrid": _meshgrid,
        "strided_slice": _strided_slice,
        "slice_like": _slice_like,
        "strided_set": _strided_set,
    }
)
