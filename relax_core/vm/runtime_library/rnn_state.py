"""The state of recurrent layers: for each sequence, layer and part a ring of the latest values, to go back in.

A setter of the program writes the value behind the present one, and the end of a batch makes that the present one. The
getters and setters that a program hands over only move values, and are not called.

See: tvm/src/runtime/vm/rnn_state.cc
"""

from typing import Final, cast

import numpy as np

from relax_core.diagnostics import plural
from relax_core.vm.context import Context
from relax_core.vm.objects.values import Array, ShapeValue, Snapshot, StateValue, Value
from relax_core.vm.packed_library.arrays import ArgumentError, Given
from relax_core.vm.runtime_library.paged_cache import need_batch
from relax_core.vm.runtime_library.states import change, made, need_same, need_shape, state_of

KIND: Final = "RNN state"


def create(context: Context, given: Given) -> StateValue:
    """Return a state without sequences."""
    init = given.tensors("init_layer_value")
    numbers = tuple(given.integer(name) for name in ("num_layers", "reserved_num_seqs", "max_history"))
    if min(numbers) < 1 or not init:
        raise ArgumentError(f"layers, sequences, history and values of a layer are at least 1, got {numbers}")
    names = ("layers", "most sequences", "history", "initial")
    held = tuple(context.allocate(item.shape, str(item.dtype)) for item in init)
    for own, item in zip(held, init, strict=True):
        own[...] = item
    return made(context, _snapshot(Snapshot("configuration", names, (*numbers, held)), None, _none()))


def _none() -> Snapshot:
    return Snapshot("sequences", (), ())


def _snapshot(config: Snapshot, batch: Snapshot | None, sequences: Snapshot) -> Snapshot:
    words = f"{plural(config['layers'], 'layer')}, {plural(len(sequences.names), 'sequence')}"
    return Snapshot(KIND, ("configuration", "batch", "sequences"), (config, batch, sequences), words)


def state(given: Given) -> StateValue:
    """Return the state that a call is about."""
    return state_of(given.value_of["state"], KIND, "state")


def _sequence_of(held: Snapshot, number: int) -> Snapshot:
    sequences = cast("Snapshot", held["sequences"])
    if str(number) not in sequences.names:
        raise ArgumentError(f"there is no sequence {number}; there are {', '.join(sequences.names) or 'none'}")
    return cast("Snapshot", sequences[str(number)])


def _put(context: Context, of: StateValue, number: int, sequence: Snapshot | None) -> None:
    held = of.snapshot
    sequences = cast("Snapshot", held["sequences"])
    name = str(number)
    found = sequences.with_field(name, sequence) if sequence is not None else sequences.without(name)
    change(context, of, _snapshot(held["configuration"], held["batch"], found))


def _sequence(length: int, available: int, at: int, rings: Value) -> Snapshot:
    parts: tuple[Value, ...] = (length, available, at, rings)
    return Snapshot("sequence", ("length", "can go back", "present", "rings"), parts, plural(length, "token"))


def clear(context: Context, of: StateValue) -> None:
    """Take away all sequences."""
    change(context, of, _snapshot(of.snapshot["configuration"], None, _none()))


def add_sequence(context: Context, of: StateValue, number: int) -> None:
    """Add a sequence with the initial values."""
    held = of.snapshot
    config = cast("Snapshot", held["configuration"])
    _need_room(held, number)
    initial = cast("tuple[Array, ...]", config["initial"])
    rings: list[tuple[Array, ...]] = []
    for _ in range(config["layers"]):
        layer: list[Array] = []
        for item in initial:
            ring = context.allocate((config["history"], *item.shape), str(item.dtype))
            ring[0] = item
            layer.append(ring)
        rings.append(tuple(layer))
    _put(context, of, number, _sequence(0, 0, 0, tuple(rings)))


def _need_room(held: Snapshot, number: int) -> None:
    names = cast("Snapshot", held["sequences"]).names
    if str(number) in names:
        raise ArgumentError(f"sequence {number} is already there")
    most = held["configuration"]["most sequences"]
    if len(names) >= most:
        raise ArgumentError(f"the state has room for {plural(most, 'sequence')}")


def remove_sequence(context: Context, of: StateValue, number: int) -> None:
    """Take a sequence away."""
    _sequence_of(of.snapshot, number)
    _put(context, of, number, None)


def fork_sequence(context: Context, of: StateValue, numbers: tuple[int, int], place: int) -> None:
    """Add a sequence with the values of another one."""
    source = _sequence_of(of.snapshot, numbers[0])
    if place not in (-1, source["length"]):
        raise ArgumentError(f"a recurrent state is forked at its end, -1, got {place}")
    _need_room(of.snapshot, numbers[1])
    _put(context, of, numbers[1], source)


def popn(context: Context, of: StateValue, number: int, count: int) -> None:
    """Go back by so many tokens."""
    source = _sequence_of(of.snapshot, number)
    length, available, at, rings = source.fields
    if not 0 <= count <= cast("int", available):
        raise ArgumentError(f"n is from 0 to {available}, the tokens that can be taken back, got {count}")
    history = of.snapshot["configuration"]["history"]
    back = (cast("int", at) - count) % history
    _put(context, of, number, _sequence(cast("int", length) - count, cast("int", available) - count, back, rings))


def begin_forward(
    context: Context, of: StateValue, ids: tuple[int, ...], lengths: tuple[int, ...], parents: tuple[int, ...] | None
) -> None:
    """Open a batch; a tree of tokens must be a chain."""
    need_batch(ids, lengths)
    chain = tuple(item for count in lengths for item in range(-1, count - 1))
    if parents is not None and tuple(parents) != chain:
        raise ArgumentError(f"token_tree_parent_ptr is a chain for a recurrent state, got {parents}")
    held = of.snapshot
    for number in ids:
        _sequence_of(held, number)
    fields = (ShapeValue(ids), ShapeValue(lengths), True)
    batch = Snapshot("batch", ("sequences", "lengths", "is open"), fields, plural(len(ids), "sequence"))
    change(context, of, _snapshot(held["configuration"], batch, held["sequences"]))


def end_forward(context: Context, of: StateValue) -> None:
    """Let what was set in the batch be the present values."""
    batch = _batch(of.snapshot)
    history = of.snapshot["configuration"]["history"]
    for number, count in zip(batch["sequences"], batch["lengths"], strict=True):
        length, available, at, rings = _sequence_of(of.snapshot, number).fields
        back = 0 if count > 1 else min(cast("int", available) + 1, history - 1)
        _put(context, of, number, _sequence(cast("int", length) + count, back, (cast("int", at) + 1) % history, rings))
    held = of.snapshot
    closed = batch.with_field("is open", value=False)
    change(context, of, _snapshot(held["configuration"], closed, held["sequences"]))


def _batch(held: Snapshot) -> Snapshot:
    batch = held["batch"]
    if not isinstance(batch, Snapshot):
        raise ArgumentError("no batch is open: call vm.builtin.kv_state_begin_forward before")
    return batch


def get(given: Given) -> None:
    """Write the present values of a part of a layer, one for each sequence of the batch."""
    held = state(given).snapshot
    layer, part = _place(held, given)
    out = given.tensor("o_data")
    ids = _batch(held)["sequences"]
    initial = held["configuration"]["initial"][part]
    need_shape("o_data", out, (len(ids), *initial.shape))
    need_same("o_data", out, initial.dtype)
    for row, number in enumerate(ids):
        sequence = _sequence_of(held, number)
        out[row] = sequence["rings"][layer][part][sequence["present"]]


def set_(context: Context, given: Given) -> StateValue:
    """Set the next values of a part of a layer, one for each sequence of the batch."""
    of = state(given)
    layer, part = _place(of.snapshot, given)
    data = given.tensor("data")
    ids = _batch(of.snapshot)["sequences"]
    initial = of.snapshot["configuration"]["initial"][part]
    need_shape("data", data, (len(ids), *initial.shape))
    need_same("data", data, initial.dtype)
    history = of.snapshot["configuration"]["history"]
    for row, number in enumerate(ids):
        sequence = _sequence_of(of.snapshot, number)
        length, available, at, rings = sequence.fields
        layers = cast("tuple[tuple[Array, ...], ...]", rings)
        old = layers[layer][part]
        ring = context.allocate(old.shape, str(old.dtype))
        ring[...] = old
        ring[(cast("int", at) + 1) % history] = data[row]
        parts = (*layers[layer][:part], ring, *layers[layer][part + 1 :])
        changed = (*layers[:layer], parts, *layers[layer + 1 :])
        _put(context, of, number, _sequence(cast("int", length), cast("int", available), cast("int", at), changed))
    return of


def debug_get(given: Given) -> Array:
    """Return the present value of a part of a layer of one sequence."""
    held = state(given).snapshot
    layer, part = _place(held, given)
    sequence = _sequence_of(held, given.integer("seq_id"))
    return np.array(sequence["rings"][layer][part][sequence["present"]])


def _place(held: Snapshot, given: Given) -> tuple[int, int]:
    config = held["configuration"]
    layer, part = given.integer("layer_id"), given.integer("state_id")
    for name, number, count in (("layer_id", layer, config["layers"]), ("state_id", part, len(config["initial"]))):
        if not 0 <= number < count:
            raise ArgumentError(f"{name} is from 0 to {count - 1}, got {number}")
    return layer, part
