"""Scaled dot-product attention."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from relax_core.ir.expr import Call, TensorType, Type
from relax_core.ir.integer.prove import constant_value, prove_equal
from relax_core.ir.prim import PrimExpr, const
from relax_core.ir.tir import Buffer
from relax_core.ops.attributes import float_at, integer_tensor_at, optional_int_at, require_rank, same_sizes, word_at
from relax_core.ops.dtypes import limits
from relax_core.ops.kernels.extremes import greatest_along
from relax_core.ops.kernels.lowering import Lowering, lowered
from relax_core.ops.kernels.scalar import add, both, call, cast, choose, div, floordiv, le, lit, lt, mul, size, sub
from relax_core.ops.kernels.te import load, lowest
from relax_core.ops.operands import common_dtype, is_absent, require_float, tensor_at
from relax_core.ops.spec import OpSpec, Param, Value
from relax_core.ops.steps import InSteps, inner_products, sum_along, wide

Array: TypeAlias = "np.ndarray[Any, Any]"

_SEE = "tvm/src/relax/op/nn/attention.cc"
_MASKS = ("TopLeft", "BottomRight")
_QKV = tuple(Param(name, "tensor") for name in ("query", "key", "value"))
_ATTRIBUTES = (
    Param("scale", "prim", "float64", default=None),
    Param("causal_mask", "prim", "string", default=None),
    Param("window_size", "prim", "int64", default=None),
)


def _infer(call_: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer `(b, s, n, h), (b, t, m, h), (b, t, m, v) -> (b, s, n, v)`; the bias broadcasts to `(b, n, s, t)`."""
    query, key, value = (tensor_at(call_, arg_types, k) for k in range(3))
    require_float(call_, query)
    dtype = common_dtype(call_, (query, key, value))
    for item in (query, key, value):
        require_rank(call_, item, 4, "operands")
    _mask(call_, arg_types)
    optional_int_at(call_, arg_types, 6)
    if query.dims is None or key.dims is None or value.dims is None:
        return TensorType(None, dtype, 4)
    same_sizes(
        call_,
        [(query.dims[0], key.dims[0]), (key.dims[0], value.dims[0]), (query.dims[3], key.dims[3]),
         (key.dims[1], value.dims[1]), (key.dims[2], value.dims[2])],
        (query, key, value),
    )  # fmt: skip
    if not is_absent(call_, 3):
        _check_bias(call_, query, key, tensor_at(call_, arg_types, 3))
    return TensorType((*query.dims[:3], value.dims[3]), dtype)


def _check_bias(call_: Call, query: TensorType, key: TensorType, bias: TensorType) -> None:
    require_rank(call_, bias, 4, "a bias")
    if bias.dims is None or query.dims is None or key.dims is None:
        return
    wanted = (query.dims[0], query.dims[2], query.dims[1], key.dims[1])
    pairs = [(a, b) for a, b in zip(bias.dims, wanted, strict=True) if constant_value(a) != 1]
    same_sizes(call_, pairs, (bias, query, key))


def _mask(call_: Call, arg_types: tuple[Type, ...]) -> str | None:
    return None if is_absent(call_, 5) else word_at(call_, arg_types, 5, _MASKS)


def _build(lowering: Lowering) -> Buffer:
    call_, types = lowering.call, lowering.arg_types
    query, key, value = (lowering.input(k, hint) for k, hint in enumerate("qkv"))
    bias = None if is_absent(call_, 3) else lowering.operand(3, "bias")
    batch, length, heads, depth = query.shape
    spread, dtype = key.shape[1], query.dtype
    scale = None if is_absent(call_, 4) else float_at(call_, types, 4)
    over_depth, over_keys = [("k", depth)], [("t", spread)]

    def head(index: PrimExpr) -> PrimExpr:
        return index if prove_equal(heads, key.shape[2]) else floordiv(index, size(floordiv(heads, key.shape[2])))

    shape = (batch, heads, length, spread)
    raw = lowering.builder.reduce(
        shape, over_depth,
        lambda s, r: mul(load(query, (s[0], s[2], s[1], r[0])), load(key, (s[0], s[3], head(s[1]), r[0]))),
        "sum", "T_scores",
    )  # fmt: skip

    def score(*at: PrimExpr) -> PrimExpr:
        value_ = load(raw, at)
        scaled = mul(value_, scale) if scale is not None else div(value_, call("sqrt", cast(depth, dtype)))
        return scaled if bias is None else add(scaled, bias(*at))

    scores = lowering.compute(shape, score, "T_scaled")
    allowed = _allowed(lowering, length, spread)

    def masked(at: tuple[PrimExpr, ...]) -> PrimExpr:
        return choose(allowed(at), load(scores, at), lowest(dtype)) if allowed else load(scores, at)

    top = lowering.builder.reduce(shape[:3], over_keys, lambda s, r: masked((*s, *r)), "max", "T_softmax_maxelem")

    def weight(*at: PrimExpr) -> PrimExpr:
        value_ = call("exp", sub(load(scores, at), load(top, at[:3])))
        return choose(allowed(at), value_, 0) if allowed else value_

    weights = lowering.compute(shape, weight, "T_softmax_exp")
    total = lowering.builder.reduce(
        shape[:3], over_keys, lambda s, r: load(weights, (*s, *r)), "sum", "T_softmax_expsum"
    )
    mixed = lowering.builder.reduce(
        lowering.shape(), over_keys,
        lambda s, r: mul(load(weights, (s[0], s[2], s[1], r[0])), load(value, (s[0], r[0], head(s[2]), s[3]))),
        "sum", "T_mixed",
    )  # fmt: skip
    return lowering.compute(mixed.shape, lambda *i: div(load(mixed, i), load(total, (i[0], i[2], i[1]))), "T_attention")


def _allowed(lowering: Lowering, length: PrimExpr, spread: PrimExpr):
    """Return which scores count: the causal mask keeps what is not behind the query."""
    mask = _mask(lowering.call, lowering.arg_types)
    window = optional_int_at(lowering.call, lowering.arg_types, 6)
    if mask is None:
        return None
    offset = const(0) if mask == "TopLeft" else sub(spread, length)

    def allowed(at: tuple[PrimExpr, ...]) -> PrimExpr:
        last = add(at[2], offset)
        is_causal = le(at[3], last)
        return is_causal if window is None else both(is_causal, lt(sub(last, at[3]), window))

    return allowed


def _attend(query: Array, key: Array, value: Array, bias: Value, attributes: tuple[Value, ...]) -> Array:
    """Attend step by step in the dtype of the query; all operands are `(b, s, n, h)`."""
    scale, mask, window = attributes
    dtype, times = query.dtype, query.shape[2] // max(key.shape[2], 1)
    keys, values = np.repeat(key, times, axis=2), np.repeat(value, times, axis=2)
    by_head = (0, 2, 1, 3)
    queries = np.transpose(query, by_head)[:, :, :, None]
    raw = wide(inner_products(queries, np.transpose(keys, by_head)[:, :, None], dtype))
    scores = raw * scale if scale is not None else raw / np.sqrt(raw.dtype.type(query.shape[3]))
    scores = np.asarray(scores if bias is None else scores + wide(np.asarray(bias))).astype(dtype)
    allowed = np.ones(scores.shape[2:], dtype=np.bool_)
    if mask is not None:
        behind = 0 if mask == "TopLeft" else scores.shape[3] - scores.shape[2]
        nearest = -scores.shape[3] if window is None else behind + 1 - int(window)
        allowed = np.tril(allowed, behind) & np.triu(allowed, nearest)
    least = np.asarray(limits(str(dtype))[0]).astype(dtype)
    top = greatest_along(np.where(allowed, scores, least), -1, keepdims=True)
    weights = np.where(allowed, np.exp(wide(scores) - wide(top)), 0).astype(dtype)
    mixed = wide(inner_products(weights[:, :, :, None], np.transpose(values, (0, 2, 3, 1))[:, :, None], dtype))
    result = np.asarray(mixed / wide(sum_along(weights, -1)[..., None])).astype(dtype)
    return np.transpose(result, by_head)


@InSteps
def _evaluate(args: tuple[Value, ...]) -> Value:
    query, key, value = (np.asarray(item) for item in args[:3])
    return _attend(query, key, value, args[3], tuple(args[4:]))


def _infer_var_len(call_: Call, arg_types: tuple[Type, ...]) -> Type:
    """Infer `(1, s, n, h), (1, t, m, h), (1, t, m, v) -> (1, s, n, v)`; starts and lengths are integers."""
    query, key, value = (tensor_at(call_, arg_types, k) for k in range(3))
    require_float(call_, query)
    dtype = common_dtype(call_, (query, key, value))
    for item in (query, key, value):
        require_rank(call_, item, 4, "operands")
    for k in (3, 4, 5, 6):
        if not is_absent(call_, k):
            integer_tensor_at(call_, arg_types, k)
    if not is_absent(call_, 8):
        word_at(call_, arg_types, 8, _MASKS)
    if query.dims is None or value.dims is None:
        return TensorType(None, dtype, 4)
    return TensorType((*query.dims[:3], value.dims[3]), dtype)


@InSteps
def _evaluate_var_len(args: tuple[Value, ...]) -> Value:
    query, key, value, starts = (np.asarray(item) for item in args[:4])
    key_starts = starts if args[5] is None else np.asarray(args[5])
    result = np.zeros((*query.shape[:3], value.shape[3]), query.dtype)
    for (a, b), (c, d) in zip(_spans(starts), _spans(key_starts), strict=True):
        result[:, a:b] = _attend(query[:, a:b], key[:, c:d], value[:, c:d], None, tuple(args[7:]))
    return result


def _spans(starts: Array) -> list[tuple[int, int]]:
    ends = [int(item) for item in starts]
    return list(pairwise(ends))


def _sequence(lowering: Lowering, bounds: Buffer, extent: PrimExpr, name: str) -> Buffer:
    """Add for each place the number of its sequence: how many sequences end at or before it."""

    def element(s: tuple[PrimExpr, ...], r: tuple[PrimExpr, ...]) -> PrimExpr:
        is_past = le(cast(load(bounds, (add(r[0], 1),)), "int64"), s[0])
        return choose(is_past, const(1), const(0))

    return lowering.builder.reduce((extent,), [("j", sub(bounds.shape[0], 1))], element, "sum", name)


def _of_own(is_own: PrimExpr, product_: PrimExpr) -> PrimExpr:
    """Leave out a value of another sequence: its infinity times a weight of 0 would be a NaN."""
    return choose(is_own, product_, 0)


def _within_sequence(
    lowering: Lowering, starts: Buffer, key_starts: Buffer, length: PrimExpr, spread: PrimExpr
) -> Callable[[tuple[PrimExpr, ...]], PrimExpr]:
    """Return whether the query at `(head, s, t)` sees the key: both are of one sequence, and the mask lets it."""
    call_, types = lowering.call, lowering.arg_types
    mask = None if is_absent(call_, 8) else word_at(call_, types, 8, _MASKS)
    window = optional_int_at(call_, types, 9)
    of_query = _sequence(lowering, starts, length, "T_sequence_q")
    of_key = _sequence(lowering, key_starts, spread, "T_sequence_k")

    def at_start(bounds: Buffer, index: PrimExpr) -> PrimExpr:
        return cast(load(bounds, (index,)), "int64")

    def allowed(at: tuple[PrimExpr, ...]) -> PrimExpr:
        own = load(of_query, (at[1],))
        is_same = both(le(own, load(of_key, (at[2],))), le(load(of_key, (at[2],)), own))
        if mask is None:
            return is_same
        place, last = sub(at[2], at_start(key_starts, own)), sub(at[1], at_start(starts, own))
        if mask == "BottomRight":
            ends = (sub(at_start(b, add(own, 1)), at_start(b, own)) for b in (key_starts, starts))
            last = add(last, sub(*ends))
        is_causal = le(place, last)
        rest = () if window is None else (lt(sub(last, place), window),)
        return choose(is_same, both(is_causal, *rest), lit(0, "bool"))

    return allowed


def _build_var_len(lowering: Lowering) -> Buffer:
    """A score counts if query and key are of the same sequence."""
    call_, types = lowering.call, lowering.arg_types
    query, key, value, starts = (lowering.input(k, hint) for k, hint in enumerate(("q", "k", "v", "seqstart_q")))
    key_starts = starts if is_absent(call_, 5) else lowering.input(5, "seqstart_k")
    _, length, heads, depth = query.shape
    dtype, spread = query.dtype, key.shape[1]
    scale = None if is_absent(call_, 7) else float_at(call_, types, 7)
    allowed = _within_sequence(lowering, starts, key_starts, length, spread)

    def head(index: PrimExpr) -> PrimExpr:
        return index if prove_equal(heads, key.shape[2]) else floordiv(index, size(floordiv(heads, key.shape[2])))

    shape = (heads, length, spread)
    raw = lowering.builder.reduce(
        shape, [("k", depth)],
        lambda s, r: mul(load(query, (const(0), s[1], s[0], r[0])), load(key, (const(0), s[2], head(s[0]), r[0]))),
        "sum", "T_scores",
    )  # fmt: skip

    def score(*at: PrimExpr) -> PrimExpr:
        value_ = load(raw, at)
        scaled = mul(value_, scale) if scale is not None else div(value_, call("sqrt", cast(depth, dtype)))
        return choose(allowed(at), scaled, lowest(dtype))

    scores, over = lowering.compute(shape, score, "T_masked"), [("t", spread)]
    top = lowering.builder.reduce(shape[:2], over, lambda s, r: load(scores, (*s, *r)), "max", "T_softmax_maxelem")

    def weight(*at: PrimExpr) -> PrimExpr:
        return choose(allowed(at), call("exp", sub(load(scores, at), load(top, at[:2]))), 0)

    weights = lowering.compute(shape, weight, "T_softmax_exp")
    total = lowering.builder.reduce(shape[:2], over, lambda s, r: load(weights, (*s, *r)), "sum", "T_softmax_expsum")
    mixed = lowering.builder.reduce(
        lowering.shape(), over,
        lambda s, r: _of_own(allowed((s[2], s[1], r[0])), mul(load(weights, (s[2], s[1], r[0])),
                                                              load(value, (const(0), r[0], head(s[2]), s[3])))),
        "sum", "T_mixed",
    )  # fmt: skip
    return lowering.compute(mixed.shape, lambda *i: div(load(mixed, i), load(total, (i[2], i[1]))), "T_attention")


SPECS = (
    *(
        OpSpec(f"relax.nn.{name}", (*_QKV, Param("bias", "tensor", default=None), *_ATTRIBUTES), _infer, summary,
               evaluate=_evaluate, legalize=lowered(name, _build), see=_SEE)
        for name, summary in (
            ("attention", "Mix values by how well their keys match the query."),
            ("attention_bias", "Attention with a bias on the scores."),
        )
    ),
    OpSpec("relax.nn.attention_var_len",
           (Param("queries", "tensor"), Param("keys", "tensor"), Param("values", "tensor"),
            Param("seqstart_q", "tensor"), Param("max_seqlen_q", "tensor"),
            Param("seqstart_k", "tensor", default=None), Param("max_seqlen_k", "tensor", default=None), *_ATTRIBUTES),
           _infer_var_len, "Attention within each of several sequences that lie one behind the other.",
           evaluate=_evaluate_var_len, legalize=lowered("attention_var_len", _build_var_len), see=_SEE),
)  # fmt: skip
