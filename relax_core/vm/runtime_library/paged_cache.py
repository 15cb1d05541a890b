"""The paged KV cache: for each sequence and layer the rows of keys and values, without the pages.

Pages are not to be seen in results, so that rows are kept plainly, and the kernels for pages that a program hands over
are never called; its kernel that splits and rotates is. An object is a `Snapshot` of its configuration, of the batch
that is open, and of its sequences. What TVM has and this has not is refused: windows that slide, the transfer of rows
between machines, and factors of a rotation.

See: tvm/src/runtime/vm/paged_kv_cache.cc
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

import numpy as np

from relax_core.diagnostics import plural
from relax_core.vm.context import Context
from relax_core.vm.objects.values import Array, Closure, ShapeValue, Snapshot, StateValue, Value
from relax_core.vm.packed_library.arrays import ArgumentError, Given
from relax_core.vm.runtime_library.states import change, cut, made, not_simulated, state_of

KIND: Final = "paged KV cache"
MHA: Final = 0
MLA: Final = 1
_KINDS: Final = ("multi-head", "latent", "linear", "sliding multi-head")
_ROPE_MODES: Final = ("none", "normal", "inline")
_SETTINGS: Final = ("most sequences", "most tokens", "prefill chunk", "page size", "slides")


@dataclass(frozen=True, slots=True)
class Config:
    """What a cache was created with."""

    held: Snapshot

    def number(self, name: str) -> int:
        """Return a number of it."""
        return cast("int", self.held[name])

    @property
    def layers(self) -> int:
        """The number of layers."""
        return len(cast("tuple[int, ...]", self.held["layer kinds"]))

    @property
    def pages(self) -> int:
        """How many pages TVM would have."""
        tokens, size = self.number("most tokens"), self.number("page size")
        return -(-tokens // size) + 1 + (2 * self.number("most sequences") if self.number("slides") else 0)

    def kind(self, layer: int) -> int:
        """Return the kind of attention of a layer, counted from 0."""
        return cast("tuple[int, ...]", self.held["layer kinds"])[layer]

    def local(self, layer: int) -> int:
        """Return the number of a layer within this cache.

        Raises:
            ArgumentError: it has no such layer.
        """
        first = self.number("first layer")
        if not first <= layer < first + self.layers:
            raise ArgumentError(f"layer_id is from {first} to {first + self.layers - 1}, got {layer}")
        return layer - first


def create(context: Context, given: Given) -> StateValue:
    """Return a cache without sequences."""
    sizes = given.integers("cache_config")
    span, kinds = given.integers("layer_indptr"), given.integers("attn_kinds")
    if len(sizes) not in (5, 6) or min(sizes[:4]) < 1:
        raise ArgumentError(f"cache_config has 5 or 6 numbers, the first four at least 1, got {sizes}")
    if len(span) != 2 or not 0 <= span[0] < span[1]:
        raise ArgumentError(f"layer_indptr is the first layer and the one behind the last, got {span}")
    count = span[1] - span[0]
    if len(kinds) < count or any(kind not in range(len(_KINDS)) for kind in kinds):
        raise ArgumentError(f"attn_kinds has a number from 0 to 3 for each of {plural(count, 'layer')}, got {kinds}")
    heads, kv_heads = given.integer("num_qo_heads"), given.integer("num_kv_heads")
    if min(heads, kv_heads) < 1 or heads % kv_heads:
        raise ArgumentError(f"num_qo_heads is a multiple of num_kv_heads, got {heads} and {kv_heads}")
    if isinstance(given.value_of["rope_ext_factors"], np.ndarray):
        not_simulated("a paged KV cache with factors of its rotation")
    if given.flag("enable_kv_transfer"):
        not_simulated("a paged KV cache that sends its rows to other machines")
    mode = given.integer("rope_mode")
    if mode not in range(len(_ROPE_MODES)):
        raise ArgumentError(f"rope_mode is 0, 1 or 2, got {mode}")
    rotary = given.value_of["f_split_rotary"]
    settings: tuple[tuple[str, Value], ...] = (
        *zip(_SETTINGS, sizes, strict=False),
        ("first layer", span[0]),
        ("layer kinds", ShapeValue(kinds[:count])),
        ("query heads", heads),
        ("heads", kv_heads),
        ("key size", given.integer("qk_head_dim")),
        ("value size", given.integer("v_head_dim")),
        ("rotation", _ROPE_MODES[mode]),
        ("rotation scale", float(given.number("rotary_scale"))),
        ("rotation theta", float(given.number("rotary_theta"))),
        ("dtype", str(given.tensor("init").dtype)),
        ("rotary kernel", rotary if isinstance(rotary, Closure) else None),
        ("is forked", False),
    )
    config = Snapshot("configuration", tuple(name for name, _ in settings), tuple(value for _, value in settings))
    return made(context, _snapshot(config, None, Snapshot("sequences", (), ())))


def _snapshot(config: Snapshot, batch: Snapshot | None, sequences: Snapshot) -> Snapshot:
    lengths = [cast("Snapshot", item)["length"] for item in sequences.fields]
    layers = len(cast("tuple[int, ...]", config["layer kinds"]))
    words = f"{plural(layers, 'layer')}, {plural(len(lengths), 'sequence')}, {plural(sum(lengths), 'row')}"
    parts: tuple[Value, ...] = (config, batch, sequences)
    return Snapshot(KIND, ("configuration", "batch", "sequences"), parts, words)


def config_of(held: Snapshot) -> Config:
    """Return the configuration of a cache."""
    return Config(held["configuration"])


def is_paged(value: Value) -> bool:
    """Tell whether a value is a paged KV cache."""
    return isinstance(value, StateValue) and value.snapshot.kind == KIND


def cache_of(given: Given) -> StateValue:
    """Return the cache that a call is about."""
    return state_of(given.value_of["state"], KIND, "state")


def sequence_of(held: Snapshot, number: int) -> Snapshot:
    """Return a sequence.

    Raises:
        ArgumentError: there is none of that number.
    """
    sequences = cast("Snapshot", held["sequences"])
    if str(number) not in sequences.names:
        known = ", ".join(sequences.names) or "none"
        raise ArgumentError(f"there is no sequence {number}; there are {known}")
    return cast("Snapshot", sequences[str(number)])


def put(context: Context, cache: StateValue, sequences: Sequence[tuple[int, Snapshot | None]]) -> None:
    """Let a cache hold other sequences; `None` takes one away."""
    held = cache.snapshot
    found = cast("Snapshot", held["sequences"])
    for number, sequence in sequences:
        name = str(number)
        found = found.with_field(name, sequence) if sequence is not None else found.without(name)
    change(context, cache, _snapshot(held["configuration"], held["batch"], found))


def new_sequence(config: Config) -> Snapshot:
    """Return a sequence without rows."""
    dtype, key, value = config.held["dtype"], config.number("key size"), config.number("value size")
    heads = config.number("heads")

    def empty(kind: int) -> Value:
        if kind == MLA:
            return (np.zeros((0, key), dtype),)
        return np.zeros((0, heads, key), dtype), np.zeros((0, heads, value), dtype)

    layers = tuple(empty(config.kind(layer)) for layer in range(config.layers))
    return sequence(0, (), layers)


def sequence(length: int, tree: tuple[int, ...], layers: Value) -> Snapshot:
    """Return a sequence: how many rows it has, which of them form a tree whose leaf is not chosen yet, and the rows."""
    return Snapshot("sequence", ("length", "tree", "layers"), (length, ShapeValue(tree), layers), plural(length, "row"))


def clear(context: Context, cache: StateValue) -> None:
    """Take away all sequences."""
    held = cache.snapshot
    config = cast("Snapshot", held["configuration"]).with_field("is forked", value=False)
    change(context, cache, _snapshot(config, None, Snapshot("sequences", (), ())))


def add_sequence(context: Context, cache: StateValue, number: int) -> None:
    """Add a sequence without rows."""
    held = cache.snapshot
    if str(number) in cast("Snapshot", held["sequences"]).names:
        raise ArgumentError(f"sequence {number} is already there")
    put(context, cache, ((number, new_sequence(config_of(held))),))


def remove_sequence(context: Context, cache: StateValue, number: int) -> None:
    """Take a sequence away."""
    sequence_of(cache.snapshot, number)
    put(context, cache, ((number, None),))


def fork_sequence(context: Context, cache: StateValue, numbers: tuple[int, int], place: int) -> None:
    """Add a sequence that begins with the rows of another one, up to `place`, all of them for -1."""
    parent, child = numbers
    held = cache.snapshot
    source = sequence_of(held, parent)
    if str(child) in cast("Snapshot", held["sequences"]).names:
        raise ArgumentError(f"sequence {child} is already there")
    length = cast("int", source["length"])
    if not -1 <= place <= length:
        raise ArgumentError(f"fork_pos is from -1 to {length}, the number of rows, got {place}")
    if source["tree"]:
        raise ArgumentError(f"the nodes of the tree of sequence {parent} are not accepted yet")
    put(context, cache, ((child, _shortened(context, source, length if place < 0 else place)),))
    latest = cache.snapshot
    config = cast("Snapshot", latest["configuration"]).with_field("is forked", value=True)
    change(context, cache, _snapshot(config, latest["batch"], latest["sequences"]))


def popn(context: Context, cache: StateValue, number: int, count: int) -> None:
    """Take the last rows from a sequence."""
    source = sequence_of(cache.snapshot, number)
    length = cast("int", source["length"])
    if not 0 <= count <= length:
        raise ArgumentError(f"n is from 0 to {length}, the number of rows, got {count}")
    if source["tree"]:
        not_simulated("taking rows from a sequence whose tree is not accepted yet")
    if count:
        put(context, cache, ((number, _shortened(context, source, length - count)),))


def _shortened(context: Context, source: Snapshot, count: int) -> Snapshot:
    layers = cast("tuple[tuple[Array, ...], ...]", source["layers"])
    kept = tuple(tuple(cut(context, rows, min(count, len(rows))) for rows in layer) for layer in layers)
    return sequence(count, (), kept)


def begin_forward(
    context: Context, cache: StateValue, ids: tuple[int, ...], lengths: tuple[int, ...], parents: tuple[int, ...] | None
) -> None:
    """Open a batch: so many new tokens of each sequence, one after the other in the rows of q, k and v."""
    held = cache.snapshot
    config = config_of(held)
    need_batch(ids, lengths)
    if sum(lengths) > config.number("prefill chunk"):
        most = config.number("prefill chunk")
        raise ArgumentError(f"a batch has at most {plural(most, 'token')}, the prefill chunk, got {sum(lengths)}")
    if len(ids) > config.number("most sequences"):
        raise ArgumentError(f"a batch has at most {config.number('most sequences')} sequences, got {len(ids)}")
    if parents is not None:
        _need_trees(config, lengths, parents)
    changed: list[tuple[int, Snapshot | None]] = []
    positions: list[int] = []
    first = 0
    for number, count in zip(ids, lengths, strict=True):
        source = sequence_of(held, number)
        length, tree = cast("int", source["length"]), tuple(cast("ShapeValue", source["tree"]))
        if parents is None and tree:
            raise ArgumentError(f"the nodes of the tree of sequence {number} are not accepted yet")
        if parents is not None:
            own = (*tree, *parents[first : first + count])
            depths = _depths(own, number)
            positions += [length - len(tree) + depth for depth in depths[len(tree) :]]
            tree = own
        else:
            positions += range(length, length + count)
        first += count
        changed.append((number, sequence(length + count, tree, source["layers"])))
    put(context, cache, changed)
    _need_pages(cache.snapshot)
    batch = Snapshot(
        "batch",
        ("sequences", "lengths", "positions", "is open"),
        (ShapeValue(ids), ShapeValue(lengths), np.array(positions, np.int32), True),
        f"{plural(len(ids), 'sequence')}, {plural(sum(lengths), 'token')}",
    )
    change(context, cache, _snapshot(cache.snapshot["configuration"], batch, cache.snapshot["sequences"]))


def need_batch(ids: tuple[int, ...], lengths: tuple[int, ...]) -> None:
    """Refuse a batch whose sequences and lengths do not fit."""
    if len(ids) != len(lengths) or not ids or len(set(ids)) < len(ids):
        raise ArgumentError(f"seq_ids and append_lengths name sequences and their tokens, got {ids} and {lengths}")
    if min(lengths) < 1:
        raise ArgumentError(f"append_lengths are at least 1, got {lengths}")


def _need_trees(config: Config, lengths: tuple[int, ...], parents: tuple[int, ...]) -> None:
    if len(parents) != sum(lengths):
        raise ArgumentError(f"token_tree_parent_ptr has a parent for each of {sum(lengths)} tokens, got {len(parents)}")
    if config.number("slides") or config.held["rotation"] == "inline" or config.kind(0) == MLA:
        raise ArgumentError("token trees need a cache that does not slide, is not latent, and rotates before attention")


def _depths(parents: tuple[int, ...], number: int) -> list[int]:
    depths: list[int] = []
    for at, parent in enumerate(parents):
        if not -1 <= parent < at:
            raise ArgumentError(f"the parent of node {at} of sequence {number} is from -1 to {at - 1}, got {parent}")
        depths.append(depths[parent] + 1 if parent >= 0 else 0)
    return depths


def _need_pages(held: Snapshot) -> None:
    config = config_of(held)
    if not config.held["is forked"] and _used_pages(held) > config.pages:
        tokens, size = config.number("most tokens"), config.number("page size")
        raise ArgumentError(f"the cache is full: it has {config.pages} pages of {size} rows, for {tokens} tokens")


def _used_pages(held: Snapshot) -> int:
    size = config_of(held).number("page size")
    return sum(-(-cast("Snapshot", item)["length"] // size) for item in cast("Snapshot", held["sequences"]).fields)


def end_forward(context: Context, cache: StateValue) -> None:
    """Close the batch."""
    held = cache.snapshot
    batch = held["batch"]
    if isinstance(batch, Snapshot):
        change(context, cache, held.with_field("batch", batch.with_field("is open", value=False)))


def batch_of(held: Snapshot) -> Snapshot:
    """Return the latest batch.

    Raises:
        ArgumentError: there was none.
    """
    batch = held["batch"]
    if not isinstance(batch, Snapshot):
        raise ArgumentError("no batch is open: call vm.builtin.kv_state_begin_forward before")
    return batch


def commit(context: Context, given: Given) -> None:
    """Keep of each tree the path to a leaf, nothing of it for -1."""
    cache = cache_of(given)
    held = cache.snapshot
    ids, leaves = given.integers("seq_ids"), given.integers("leaf_indices")
    batch = batch_of(held)
    if len(ids) != len(leaves):
        raise ArgumentError(f"there is a leaf for each sequence, got {len(leaves)} for {len(ids)}")
    if tuple(ids) != tuple(batch["sequences"])[: len(ids)]:
        not_simulated("accepting nodes of other sequences than those of the batch, in their order,")
    changed: list[tuple[int, Snapshot | None]] = []
    for number, leaf, count in zip(ids, leaves, batch["lengths"], strict=False):
        source = sequence_of(held, number)
        tree = tuple(cast("ShapeValue", source["tree"]))
        if not -1 <= leaf < len(tree):
            raise ArgumentError(f"the leaf of sequence {number} is from -1 to {len(tree) - 1}, got {leaf}")
        if tree and len(tree) != count:
            not_simulated("accepting a tree that was appended in several steps")
        start = cast("int", source["length"]) - (len(tree) or count)
        path: list[int] = []
        while leaf >= 0:
            path.append(leaf)
            leaf = tree[leaf]
        places = [*range(start), *(start + at for at in reversed(path))]
        layers = tuple(
            tuple(rows[[place for place in places if place < len(rows)]] for rows in layer)
            for layer in cast("tuple[tuple[Array, ...], ...]", source["layers"])
        )
        changed.append((number, sequence(len(places), (), layers)))
    put(context, cache, changed)


def query_positions(given: Given) -> Array:
    """Return the positions of the batch's tokens within their sequences."""
    return np.array(batch_of(cache_of(given).snapshot)["positions"], np.int32)


def total_length(given: Given) -> int:
    """Return the number of rows of all sequences."""
    sequences = cast("Snapshot", cache_of(given).snapshot["sequences"])
    return sum(cast("Snapshot", item)["length"] for item in sequences.fields)


def sequence_length(given: Given) -> int:
    """Return the number of rows of a sequence."""
    return cast("int", sequence_of(cache_of(given).snapshot, given.integer("seq_id"))["length"])


def available_pages(given: Given) -> int:
    """Return how many pages TVM would have left; what forked sequences share is not followed."""
    held = cache_of(given).snapshot
    if config_of(held).held["is forked"]:
        not_simulated("the number of pages left after a sequence was forked")
    return config_of(held).pages - _used_pages(held)


def is_empty(given: Given) -> bool:
    """Tell whether there is no sequence."""
    return not cast("Snapshot", cache_of(given).snapshot["sequences"]).fields


def refuse_window(given: Given) -> None:
    """Stop: a window that slides is not simulated."""
    cache_of(given)
    not_simulated("a sequence with a window that slides")


def debug_get_kv(given: Given) -> None:
    """Copy rows of all layers: `(layers, end_pos - start_pos, heads, size)`."""
    held = cache_of(given).snapshot
    source = sequence_of(held, given.integer("seq_id"))
    start, end = given.integer("start_pos"), given.integer("end_pos")
    length = cast("int", source["length"])
    if not 0 <= start < end <= length:
        raise ArgumentError(f"start_pos and end_pos name rows from 0 to {length}, got {start} and {end}")
    layers: tuple[tuple[Any, ...], ...] = source["layers"]
    for name, place in (("k_data", 0), ("v_data", 1)):
        out = given.tensor(name)
        if any(len(layer) != 2 for layer in layers):
            raise ArgumentError("the layers of the cache are latent, and have no keys and values")
        if any(len(layer[place]) < end for layer in layers):
            raise ArgumentError("a layer has no rows yet for the latest tokens")
        rows = np.stack([layer[place][start:end] for layer in layers])
        if out.shape != rows.shape or out.dtype != rows.dtype:
            raise ArgumentError(f"{name} has the shape {rows.shape} and the dtype {rows.dtype}, got {out.shape}")
        out[...] = rows
