"""Attention over the rows of a paged KV cache."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

import numpy as np

from relax_core.vm.context import Context
from relax_core.vm.objects.values import Array, Closure, ShapeValue, Snapshot, StateValue
from relax_core.vm.packed_library.arrays import ArgumentError, Given
from relax_core.vm.runtime_library.attention import attended, merged, rotated, seen
from relax_core.vm.runtime_library.paged_cache import (
    MHA,
    MLA,
    Config,
    batch_of,
    cache_of,
    config_of,
    put,
    sequence,
    sequence_of,
)
from relax_core.vm.runtime_library.states import appended, need_same, need_shape, not_simulated


@dataclass(frozen=True, slots=True)
class _Part:
    """The tokens of a batch that are of one sequence: rows `start` to `stop` of q, k and v."""

    number: int
    start: int
    stop: int
    past: int
    """The number of rows before this batch, without those of a tree that is not accepted yet."""
    tree: tuple[int, ...]
    source: Snapshot

    @property
    def parents(self) -> tuple[int, ...]:
        """The parents of the rows behind `past`: those of the tree, else each the one before."""
        return self.tree or tuple(range(-1, self.stop - self.start - 1))


@dataclass(frozen=True, slots=True)
class _Call:
    """What a call of attention is about; `layer` is counted within the cache."""

    cache: StateValue
    config: Config
    layer: int
    scale: float

    @property
    def tokens(self) -> int:
        """How many tokens the batch has."""
        return sum(batch_of(self.cache.snapshot)["lengths"])

    @property
    def positions(self) -> Array:
        """The positions of the tokens within their sequences."""
        return cast("Array", batch_of(self.cache.snapshot)["positions"])

    @property
    def is_decode(self) -> bool:
        """Tell whether each sequence has one new token; its row is then written before attention."""
        return all(count == 1 for count in batch_of(self.cache.snapshot)["lengths"]) and not self.config.number(
            "slides"
        )

    def parts(self) -> Iterator[_Part]:
        """Yield the sequences of the batch."""
        held = self.cache.snapshot
        batch = batch_of(held)
        start = 0
        for number, count in zip(batch["sequences"], batch["lengths"], strict=True):
            source = sequence_of(held, number)
            tree = tuple(cast("ShapeValue", source["tree"]))
            past = cast("int", source["length"]) - max(count, len(tree))
            yield _Part(number, start, start + count, past, tree, source)
            start += count

    def rows(self, part: _Part) -> tuple[Array, ...]:
        """Return the rows of a sequence in this layer."""
        return cast("tuple[tuple[Array, ...], ...]", part.source["layers"])[self.layer]

    def need_tensor(self, name: str, array: Array, shape: tuple[int | None, ...]) -> None:
        """Refuse a tensor of another shape, or of another dtype than that of the cache."""
        need_same(name, array, np.dtype(cast("str", self.config.held["dtype"])))
        need_shape(name, array, shape)

    def need_kind(self, *kinds: int) -> None:
        """Refuse a layer of another kind."""
        kind = self.config.kind(self.layer)
        if kind not in kinds:
            if kind not in (MHA, MLA):
                not_simulated("a layer with a window that slides, or with linear attention,")
            raise ArgumentError(
                "the layer has latent attention" if kind == MLA else "the layer has no latent attention"
            )


def _call(given: Given, layer: str = "layer_id") -> _Call:
    cache = cache_of(given)
    config = config_of(cache.snapshot)
    batch_of(cache.snapshot)
    scale = float(given.number("sm_scale")) if "sm_scale" in given.value_of else 1.0
    return _Call(cache, config, config.local(given.integer(layer)), scale)


def attention_with_fused_qkv(context: Context, given: Given) -> None:
    """Split q, k and v, rotate q and k, append k and v, and attend to all rows of each sequence."""
    call = _call(given)
    call.need_kind(MHA)
    config, qkv, out = call.config, given.tensor("qkv_data"), given.tensor("o_data")
    heads, kv_heads, size = config.number("query heads"), config.number("heads"), config.number("key size")
    call.need_tensor("qkv_data", qkv, (None, heads + 2 * kv_heads, size))
    call.need_tensor("o_data", out, (len(qkv), heads, size))
    if len(qkv) < call.tokens:
        raise ArgumentError(f"qkv_data has a row for each of {call.tokens} tokens, got {len(qkv)}")
    q, k, v = _split(context, call, qkv[: call.tokens])
    _append(context, call, (k, v))
    _attend(context, call, q, out[: call.tokens])


def _split(context: Context, call: _Call, qkv: Array) -> tuple[Array, Array, Array]:
    """Return q, k and v; the program's own kernel makes them if it handed one over."""
    config = call.config
    heads, kv_heads = config.number("query heads"), config.number("heads")
    q, k, v = qkv[:, :heads], qkv[:, heads : heads + kv_heads], qkv[:, heads + kv_heads :]
    mode, kernel = config.held["rotation"], config.held["rotary kernel"]
    if isinstance(kernel, Closure):
        functions = context.executable.functions
        if kernel.function >= len(functions) or functions[kernel.function].name != kernel.name:
            not_simulated("a cache whose rotary kernel is one of another executable")
        made = [context.allocate(part.shape, str(part.dtype)) for part in (q, k, v)]
        context.invoke(kernel, (np.ascontiguousarray(qkv), call.positions.copy(), *made, int(mode == "normal")))
        return made[0], made[1], made[2]
    if mode == "normal":
        theta, scale = (cast("float", config.held[f"rotation {name}"]) for name in ("theta", "scale"))
        q, k = (rotated(part, call.positions, theta, scale) for part in (q, k))
    return q, k, v


def _append(context: Context, call: _Call, new: tuple[Array, ...]) -> None:
    changed: list[tuple[int, Snapshot | None]] = []
    for part in call.parts():
        length = cast("int", part.source["length"])
        before = length - (part.stop - part.start)
        layers = cast("tuple[tuple[Array, ...], ...]", part.source["layers"])
        rows = layers[call.layer]
        if len(rows[0]) < before:
            raise ArgumentError(f"layer {call.layer} of sequence {part.number} lacks rows of an earlier batch")
        # A layer that is called twice in a batch writes the same rows again.
        kept = rows if len(rows[0]) == before else tuple(item[:before].copy() for item in rows)
        grown = tuple(appended(context, old, item[part.start : part.stop]) for old, item in zip(kept, new, strict=True))
        layers = (*layers[: call.layer], grown, *layers[call.layer + 1 :])
        changed.append((part.number, sequence(length, part.tree, layers)))
    put(context, call.cache, changed)


def _attend(context: Context, call: _Call, q: Array, out: Array) -> None:
    for part in call.parts():
        k, v = call.rows(part)
        context.reserve(8 * len(k) * q.shape[1] * (part.stop - part.start), "the scores of attention")
        rows, keys = _turned(call, q[part.start : part.stop], part), _turned_keys(call, k)
        mask = seen(part.past, part.parents)[len(part.parents) - (part.stop - part.start) :]
        out[part.start : part.stop] = attended(rows, keys, v, mask, call.scale)[0]


def _turned(call: _Call, q: Array, part: _Part) -> Array:
    """Return q, rotated if that is the business of attention."""
    if call.config.held["rotation"] != "inline":
        return q
    return _rotated(call, q, call.positions[part.start : part.stop])


def _turned_keys(call: _Call, k: Array) -> Array:
    return k if call.config.held["rotation"] != "inline" else _rotated(call, k, np.arange(len(k)))


def _rotated(call: _Call, rows: Array, positions: Array) -> Array:
    theta, scale = (cast("float", call.config.held[f"rotation {name}"]) for name in ("theta", "scale"))
    return rotated(rows, positions, theta, scale)


def attention_with_shared_kv(context: Context, given: Given) -> None:
    """Attend to the rows of another layer, which has appended those of this batch; nothing is appended."""
    call = _call(given, "source_layer_id")
    call.need_kind(MHA)
    config, q, out = call.config, given.tensor("q_data"), given.tensor("o_data")
    size, value = config.number("key size"), config.number("value size")
    heads, kv_heads = config.number("query heads"), config.number("heads")
    call.need_tensor("q_data", q, (call.tokens, heads, size))
    call.need_tensor("current_k_data", given.tensor("current_k_data"), (call.tokens, kv_heads, size))
    call.need_tensor("current_v_data", given.tensor("current_v_data"), (call.tokens, kv_heads, value))
    call.need_tensor("o_data", out, (call.tokens, heads, value))
    if call.config.held["rotation"] == "inline":
        not_simulated("attention to another layer's rows with a rotation inside")
    k, v = given.tensor("current_k_data"), given.tensor("current_v_data")
    for part in call.parts():
        own = slice(part.start, part.stop)
        before = cast("int", part.source["length"]) - (part.stop - part.start)
        keys, values = call.rows(part)
        if len(keys) < before or (call.is_decode and len(keys) == before):
            raise ArgumentError(f"layer {call.layer} has not appended the rows of this batch")
        # In a decode TVM reads the cache alone, else its rows before this batch and those that are given.
        if not call.is_decode:
            keys, values = np.concatenate([keys[:before], k[own]]), np.concatenate([values[:before], v[own]])
        context.reserve(8 * len(keys) * heads * (part.stop - part.start), "the scores of attention")
        mask = seen(part.past, part.parents)[len(part.parents) - (part.stop - part.start) :]
        out[own] = attended(q[own], keys, values, mask, call.scale)[0]


def self_attention(context: Context, given: Given) -> None:
    """Attend to the new rows alone, and write the logarithms of the sums of exponentials to the base 2."""
    call = _call(given)
    call.need_kind(MHA, MLA)
    q, k, v = (given.tensor(name) for name in ("q_data", "k_data", "v_data"))
    out, lse = given.tensor("o_data"), given.tensor("lse_data")
    call.need_tensor("q_data", q, (call.tokens, None, None))
    call.need_tensor("k_data", k, (call.tokens, None, q.shape[2]))
    call.need_tensor("v_data", v, (call.tokens, k.shape[1], None))
    call.need_tensor("o_data", out, (*q.shape[:2], v.shape[2]))
    need_shape("lse_data", lse, q.shape[:2])
    if not k.shape[1] or q.shape[1] % k.shape[1]:
        raise ArgumentError(f"the heads of q are a multiple of those of k, got {q.shape[1]} and {k.shape[1]}")
    inline = call.config.held["rotation"] == "inline" and call.config.kind(call.layer) == MHA
    for part in call.parts():
        own = slice(part.start, part.stop)
        count = part.stop - part.start
        context.reserve(8 * q.shape[1] * count * count, "the scores of attention")
        if len(part.tree) > count:
            not_simulated("attention to the new rows of a tree that was appended in several steps")
        at = call.positions[own]
        rows, keys = (_rotated(call, item[own], at) if inline else item[own] for item in (q, k))
        out[own], lse[own] = attended(rows, keys, v[own], seen(0, part.parents), call.scale)


def cross_attention(context: Context, given: Given) -> None:
    """Attend to the rows before this batch; in a decode also to those of it, which were appended before.

    Where a sequence has no such row, TVM leaves what the outputs held; here they are 0 and -inf.
    """
    call = _call(given)
    call.need_kind(MHA, MLA)
    config, q = call.config, given.tensor("q_data")
    out, lse = given.tensor("o_data"), given.tensor("lse_data")
    heads = config.number("query heads")
    call.need_tensor("q_data", q, (call.tokens, heads, config.number("key size")))
    call.need_tensor("o_data", out, (call.tokens, heads, config.number("value size")))
    need_shape("lse_data", lse, (call.tokens, heads))
    for part in call.parts():
        if part.tree:
            not_simulated("attention to the rows before a tree")
        rows = call.rows(part)
        count = part.past + (part.stop - part.start if call.is_decode else 0)
        if len(rows[0]) < count:
            raise ArgumentError(f"layer {call.layer} of sequence {part.number} lacks rows")
        own = slice(part.start, part.stop)
        context.reserve(8 * heads * count * (part.stop - part.start), "the scores of attention")
        if config.kind(call.layer) == MLA:
            k = rows[0][:count, None, :]
            v = k[..., : config.number("value size")]
            found = attended(q[own], k, v, None, call.scale)
        else:
            k = _turned_keys(call, rows[0][:count])
            found = attended(_turned(call, q[own], part), k, rows[1][:count], None, call.scale)
        out[own], lse[own] = found


def append_mla_kv(context: Context, given: Given) -> StateValue:
    """Append the latent rows of this batch."""
    call = _call(given)
    call.need_kind(MLA)
    kv = given.tensor("kv_data")
    call.need_tensor("kv_data", kv, (call.tokens, call.config.number("key size")))
    _append(context, call, (kv,))
    return call.cache


def merge_attn_output_inplace(given: Given) -> tuple[Array, Array]:
    """Write the attention over two sets of rows to the first outputs, from that over each."""
    cache_of(given)
    one, one_lse = given.tensor("o_self_attn"), given.tensor("lse_self_attn")
    other, other_lse = given.tensor("o_cross_attn"), given.tensor("lse_cross_attn")
    need_shape("o_self_attn", one, (None, None, None))
    need_shape("lse_self_attn", one_lse, one.shape[:2])
    need_shape("o_cross_attn", other, one.shape)
    need_shape("lse_cross_attn", other_lse, one.shape[:2])
    one[...], one_lse[...] = merged(((one, one_lse), (other, other_lse)))
    return one, one_lse
