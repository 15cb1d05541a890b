"""Tuples in tuples: the record counts what each holds once, however deep it is nested and often shared."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from relax_core.vm.objects.nested import memories_near
from relax_core.vm.objects.values import NOT_KEPT, Array, Closure, Value, arrays_in, ranges_in, root_of
from relax_core.vm.recording.recorder import Recorder

UNBOUNDED = 1 << 40


def uses(recorder: Recorder) -> int:
    return sum(memory.uses for memory in recorder.memories.values())


def test_a_chain_of_tuples_costs_as_many_counts_as_it_has_links() -> None:
    def counted(length: int) -> int:
        recorder = Recorder(UNBOUNDED)
        value: Value = (np.zeros(1, np.float32),)
        for _ in range(length):
            value = (value, np.zeros(1, np.float32))
            recorder.record(0, 0, value)
        return uses(recorder)

    assert counted(400) <= 2 * 400 + 2


def test_what_is_given_up_frees_what_only_it_held() -> None:
    recorder = Recorder(3 * 400)
    first = np.zeros(100, np.float32)
    shared = np.zeros(100, np.float32)
    inner = (shared,)
    recorder.record(0, 0, (first, inner))
    recorder.record(0, 0, (inner, inner))
    assert recorder.retained_bytes == 800
    recorder.record(0, 0, np.zeros(200, np.float32))
    assert recorder.values[0] is NOT_KEPT
    assert {id(memory.root) for memory in recorder.memories.values()} >= {id(shared)}
    assert id(first) not in recorder.memories
    assert recorder.retained_bytes == 1200


@st.composite
def records(draw: st.DrawFn) -> list[Value]:
    """Values that an event after the other writes: arrays, and tuples and closures of what was written before."""
    written: list[Value] = [np.zeros(draw(st.integers(1, 8)), np.uint8)]
    for _ in range(draw(st.integers(1, 12))):
        picked = tuple(draw(st.lists(st.sampled_from(written), max_size=3)))
        made: tuple[Value, ...] = (np.zeros(draw(st.integers(1, 8)), np.uint8), picked, Closure(0, "f", picked), 7)
        written.append(draw(st.sampled_from(made)))
    return written


@settings(max_examples=60, deadline=None)
@given(records(), st.integers(0, 40))
def test_the_retained_bytes_are_those_of_the_tensors_that_are_still_reached(written: list[Value], limit: int) -> None:
    recorder = Recorder(limit)
    for value in written:
        recorder.record(0, 0, value)
    reached: dict[int, Array] = {id(root_of(item)): root_of(item) for item in arrays_in(*recorder.values)}
    assert recorder.memories.keys() == reached.keys()
    assert recorder.retained_bytes == sum(root.nbytes for root in reached.values())


@settings(max_examples=60, deadline=None)
@given(records())
def test_near_memories_are_all_memories_if_the_value_is_not_deeper(written: list[Value]) -> None:
    assert set(memories_near(written[-1], len(written) + 1)) == {item.memory for item in ranges_in(written[-1])}


def test_memories_beyond_the_levels_are_not_looked_for() -> None:
    arrays = [np.zeros(1, np.float32) for _ in range(5)]
    value: Value = ()
    for array in reversed(arrays):
        value = (array, value)
    assert set(memories_near(value, 4)) == {id(array) for array in arrays[:3]}
