"""The plain KV cache: rows of one tensor, with more memory reserved than is filled.

See: tvm/src/runtime/vm/lm_support.cc
"""

import math
from typing import Final, cast

from relax_core.vm.context import Context
from relax_core.vm.objects.values import Array, Snapshot, StateValue, Value, shape_text
from relax_core.vm.packed_library.arrays import ArgumentError, Given
from relax_core.vm.runtime_library.states import change, made, need_same, state_of

KIND: Final = "KV cache"


def create(context: Context, given: Given) -> StateValue:
    """Return a cache that holds the rows of `init_data`; `init_fill_count` of them count, all for -1."""
    init, reserve, fill = given.tensor("init_data"), given.integers("reserve_shape"), given.integer("init_fill_count")
    if len(reserve) != init.ndim or not reserve or reserve[0] < 1:
        words = f"reserve_shape has {init.ndim} sizes, the first at least 1"
        raise ArgumentError(f"{words}, got {shape_text(reserve)}")
    data = context.allocate(reserve, str(init.dtype))
    data, count = _put(context, data, 0, init)
    if fill > len(data):
        raise ArgumentError(f"init_fill_count is at most {len(data)}, the number of reserved rows, got {fill}")
    return made(context, _snapshot(count if fill < 0 else fill, max(fill, 0), data))


def append(context: Context, given: Given) -> StateValue:
    """Add rows behind those that are filled; the reservation is doubled until they fit."""
    cache = _cache(given)
    held = cache.snapshot
    data, count = _put(context, held["data"], held["length"], given.tensor("value"))
    change(context, cache, _snapshot(count, held["position"], data))
    return cache


def update(context: Context, given: Given) -> StateValue:
    """Overwrite all rows that are filled."""
    cache, value = _cache(given), given.tensor("value")
    held = cache.snapshot
    if value.ndim == 0 or len(value) != held["length"]:
        rows = shape_text(value.shape)
        raise ArgumentError(f"value has as many rows as the cache, {held['length']}, got the shape {rows}")
    data, count = _put(context, held["data"], 0, value)
    change(context, cache, _snapshot(count, held["position"], data))
    return cache


def view(context: Context, given: Given) -> Array:
    """Return the rows that are filled, in the memory of the cache."""
    held = _cache(given).snapshot
    data, shape = held["data"], (held["length"], *held["data"].shape[1:])
    asked = given.value_of["shape"]
    if asked is not None and tuple(asked) != shape:
        raise ArgumentError(f"shape is that of the filled rows, {shape_text(shape)}, got {shape_text(tuple(asked))}")
    return data[: held["length"]]


def window_override(context: Context, given: Given) -> StateValue:
    """Add rows to a window of at most `max_cache_size`: what does not fit overwrites the oldest, behind the sinks."""
    cache, value = _cache(given), given.tensor("value")
    most = given.integer("max_cache_size")
    sinks = given.integer("num_attention_sinks") if "num_attention_sinks" in given.value_of else 0
    held = cache.snapshot
    data, filled, position = held["data"], held["length"], held["position"]
    _need_rows(data, value)
    count = len(value)
    if count > most - sinks:
        raise ArgumentError(f"value has at most {most - sinks} rows, the window without its sinks, got {count}")
    if filled + count <= most:
        data = _reserved(context, data, filled + count)
    first = min(count, most - position)
    if position + first > len(data) or (first < count and sinks + count - first > len(data)):
        raise ArgumentError(f"the cache has {len(data)} rows reserved, and a window of {most} needs as many")
    _write(context, data, position, value[:first])
    filled, position = min(filled + count, most), min(position + count, most)
    if first < count:
        _write(context, data, sinks, value[first:])
        position = sinks + count - first
    change(context, cache, _snapshot(filled, position, data))
    return cache


def array_popn(context: Context, given: Given) -> None:
    """Take the last `n` rows from each cache."""
    count = given.integer("n")
    caches = _caches(given)
    for cache in caches:
        held = cache.snapshot
        if not 0 <= count <= held["length"]:
            raise ArgumentError(f"n is from 0 to {held['length']}, the number of rows, got {count}")
    for cache in caches:
        held = cache.snapshot
        change(context, cache, _snapshot(held["length"] - count, held["position"], held["data"]))


def array_clear(context: Context, given: Given) -> None:
    """Take all rows from each cache."""
    for cache in _caches(given):
        change(context, cache, _snapshot(0, 0, cache.snapshot["data"]))


def _cache(given: Given) -> StateValue:
    return state_of(given.value_of["cache"], KIND, "cache")


def _caches(given: Given) -> tuple[StateValue, ...]:
    held = given.value_of["caches"]
    if not isinstance(held, tuple):
        raise ArgumentError(f"caches is a tuple of objects, each a {KIND}")
    fields = cast("tuple[Value, ...]", held)
    return tuple(state_of(item, KIND, f"caches[{at}]") for at, item in enumerate(fields))


def _snapshot(length: int, position: int, data: Array) -> Snapshot:
    words = f"{length} of {len(data)} rows {shape_text(data.shape[1:])} {data.dtype}"
    return Snapshot(KIND, ("length", "position", "data"), (length, position, data), words)


def _put(context: Context, data: Array, at: int, value: Array) -> tuple[Array, int]:
    """Write rows, in more memory if need be; return it, and the number of the row behind them."""
    _need_rows(data, value)
    data = _reserved(context, data, at + len(value))
    _write(context, data, at, value)
    return data, at + len(value)


def _need_rows(data: Array, value: Array) -> None:
    need_same("value", value, data.dtype)
    if value.ndim != data.ndim or value.shape[1:] != data.shape[1:]:
        rows = shape_text(data.shape[1:])
        raise ArgumentError(f"value has rows of the shape {rows}, got {shape_text(value.shape)}")


def _reserved(context: Context, data: Array, count: int) -> Array:
    if count <= len(data):
        return data
    slots = len(data) * 2 ** math.ceil(math.log2(count / len(data)))
    slots = slots if slots >= count else 2 * slots
    larger = context.allocate((slots, *data.shape[1:]), str(data.dtype))
    context.will_write(larger)
    larger[: len(data)] = data
    return larger


def _write(context: Context, data: Array, at: int, rows: Array) -> None:
    if len(rows):
        context.will_write(data[at : at + len(rows)])
        data[at : at + len(rows)] = rows
