"""A value shown at a time is the value at that time: whoever may write an argument, the bytes before are kept."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from relax_core.bytecode.executable import DTypeConstant, ShapeConstant
from relax_core.vm.debugger import step_back
from relax_core.vm.external.packed import Registry
from relax_core.vm.limits import Limits
from relax_core.vm.machine import Machine
from relax_core.vm.objects.values import NOT_KEPT, UNWRITTEN, Closure, Uninitialised, kind_of
from relax_core.vm.recording.trace import Trace
from tests.narrow import is_tuple
from tests.vm.assemble import assemble
from tests.vm.kernels import PythonEngine, add_one

ALLOC = """
@main(x) 4
  call vm.builtin.alloc_storage(vm, c[0], i0, c[1], c[2]) -> %1
  call vm.builtin.alloc_tensor(%1, i0, c[0], c[1]) -> %2
  call {write}(%0, %2)
  call {write}(%2, %2)
  ret %2
"""
CONSTANTS = (ShapeConstant((2,)), DTypeConstant("float32"), "global", "")
ZERO = np.zeros(2, np.float32)


def run(
    listing: str, *args: Any, register: Callable[[Registry], None] = lambda registry: None, **options: Any
) -> Trace:
    registry = Registry()
    register(registry)
    executable = assemble(listing, CONSTANTS, {"add_one": add_one()})
    trace = Machine(executable, registry=registry, engine=PythonEngine(), **options).run("main", args)
    assert trace.error is None, trace.error
    return trace


def value(trace: Trace, at: int, frame: int, register: int) -> Any:
    return trace.value_at(at, frame, register)


def registers(trace: Trace, at: int, frame: int) -> tuple[Any, ...]:
    return trace.registers_at(at, frame)


def write_into(a: np.ndarray[Any, Any], out: np.ndarray[Any, Any]) -> None:
    out[...] = a + 1


def declared(registry: Registry) -> None:
    registry.register("write", write_into, writes=(1,))


def undeclared(registry: Registry) -> None:
    registry.register("write", write_into)


@pytest.mark.parametrize(
    ("write", "register"),
    [("add_one", declared), ("write", declared), ("write", undeclared)],
    ids=["kernel", "declared packed function", "undeclared packed function"],
)
def test_stepping_back_over_a_write_shows_the_old_bytes(write: str, register: Callable[[Registry], None]) -> None:
    trace = run(ALLOC.format(write=write), ZERO, register=register)
    assert value(trace, 1, 0, 2) is UNWRITTEN
    assert value(trace, 2, 0, 2) == Uninitialised((2,), "float32")
    assert kind_of(value(trace, 2, 0, 2)) == "unwritten"
    assert np.array_equal(value(trace, 3, 0, 2), [1, 1])
    assert np.array_equal(value(trace, 4, 0, 2), [2, 2])
    assert np.array_equal(value(trace, step_back(trace, 4), 0, 2), [1, 1])
    assert np.array_equal(value(trace, 4, 0, 0), [0, 0])


@pytest.mark.parametrize("is_declared", [True, False])
def test_an_update_in_place_shows_the_old_bytes_before_it(is_declared: bool) -> None:
    def update(a: np.ndarray[Any, Any]) -> None:
        a += 1

    writes = (0,) if is_declared else None
    listing = "@main(x) 2\n  call update(%0)\n  call custom_inplace_update(%0)\n  ret %0\n"
    trace = run(listing, ZERO, register=lambda registry: registry.register("update", update, writes=writes))
    assert [value(trace, at, 0, 0).tolist() for at in range(4)] == [[0, 0], [1, 1], [2, 2], [2, 2]]


def test_the_hosts_array_does_not_change_when_a_run_is_recorded() -> None:
    mine = ZERO.copy()
    run("@main(x) 2\n  call custom_inplace_update(%0)\n  ret %0\n", mine)
    assert np.array_equal(mine, [0, 0])


def test_a_change_is_seen_through_views_tuples_and_captures() -> None:
    listing = """
@main(x) 4
  call vm.builtin.reshape(%0, c[0]) -> %1
  call vm.builtin.make_tuple(%1, %0) -> %2
  call vm.builtin.make_closure(f[g], %0) -> %3
  call custom_inplace_update(%1)
  ret %0
@g(x) 1
  ret %0
"""
    trace = run(listing, ZERO)
    before, after = registers(trace, 3, 0), registers(trace, 4, 0)
    assert [before[0][0], before[1][0], before[2][1][0], before[3].captures[0][0]] == [0, 0, 0, 0]
    assert [after[0][0], after[1][0], after[2][1][0], after[3].captures[0][0]] == [1, 1, 1, 1]


def test_a_change_of_a_part_keeps_the_other_part() -> None:
    def update_tail(a: np.ndarray[Any, Any]) -> None:
        a[1:] += 1

    def tail(a: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        return a[1:]

    def register(registry: Registry) -> None:
        registry.register("tail", tail, is_pure=True)
        registry.register("update", update_tail)

    listing = "@main(x) 2\n  call tail(%0) -> %1\n  call custom_inplace_update(%1)\n  call update(%0)\n  ret %0\n"
    trace = run(listing, np.zeros(3, np.float32), register=register)
    assert [value(trace, at, 0, 0).tolist() for at in (1, 2, 3)] == [[0, 0, 0], [0, 1, 1], [0, 2, 2]]
    assert [value(trace, at, 0, 1).tolist() for at in (1, 2, 3)] == [[0, 0], [1, 1], [2, 2]]


def test_a_pure_function_that_is_declared_so_is_not_watched() -> None:
    trace = run("@main(x) 2\n  call custom_add(%0, %0) -> %1\n  ret %1\n", ZERO)
    assert np.array_equal(value(trace, 1, 0, 1), [0, 0])


def test_what_a_packed_function_wrote_before_it_called_back_is_seen_in_the_callback() -> None:
    def update_and_call(a: np.ndarray[Any, Any], function: Callable[..., Any]) -> None:
        a += 1
        function(a)
        a += 1

    listing = "@main(x) 2\n  call update(%0, f[g])\n  ret %0\n@g(y) 2\n  call vm.builtin.copy(%0) -> %1\n  ret %1\n"
    trace = run(listing, ZERO, register=lambda registry: registry.register("update", update_and_call))
    assert [value(trace, at, 0, 0)[0] for at in range(len(trace) + 1)] == [0, 1, 1, 1, 2, 2]
    assert [value(trace, at, 1, 0)[0] for at in (1, 2, 3)] == [1, 1, 1]


def test_frames_are_those_of_the_time() -> None:
    listing = "@main(x) 2\n  call f(%0) -> %1\n  ret %1\n@f(x) 2\n  call vm.builtin.copy(%0) -> %1\n  ret %1\n"
    trace = run(listing, 7)
    stacks = [[(frame.function, frame.pc) for frame in trace.frames_at(at)] for at in range(5)]
    assert stacks == [[(0, 0)], [(0, 0), (1, 2)], [(0, 0), (1, 3)], [(0, 1)], []]
    assert registers(trace, 3, 0) == (7, 7)
    assert registers(trace, 1, 1) == (7, UNWRITTEN)
    starts, ends = trace.frame_spans
    assert (starts.tolist(), ends.tolist(), trace.frame_depths.tolist()) == ([0, 0], [4, 3], [0, 1])


def test_a_frame_tells_through_which_register_it_was_called() -> None:
    listing = """
@main(x) 3
  call vm.builtin.make_closure(f[g], %0) -> %1
  call vm.builtin.invoke_closure(vm, %1) -> %2
  ret %2
@g(x) 1
  ret %0
"""
    trace = run(listing, 7)
    assert [frame.through for frame in trace.frames_at(2)] == [-1, 1]
    closure = value(trace, 1, 0, 1)
    assert isinstance(closure, Closure)
    assert (closure.name, closure.captures) == ("g", (7,))


def test_values_that_are_not_made_again_read_not_kept_and_never_wrong() -> None:
    listing = "@main(x) 2\n" + "  call custom_add(%0, %0) -> %1\n" * 20 + "  ret %1\n"
    x = np.ones(1000, np.float32)
    trace = run(listing, x, limits=Limits(retained_bytes=20_000))
    trace.again = None
    values = [value(trace, at, 0, 1) for at in range(1, 21)]
    kept = [value for value in values if value is not NOT_KEPT]
    assert values[0] is NOT_KEPT
    assert 1 <= len(kept) < 10
    assert values[-1] is not NOT_KEPT
    assert all(value[0] == 2 for value in kept)
    trace = run(
        "@main(x) 2\n" + "  call custom_inplace_update(%0)\n" * 20 + "  ret %0\n",
        x,
        limits=Limits(retained_bytes=5_000),
    )
    trace.again = None
    assert value(trace, 1, 0, 0) is NOT_KEPT
    assert value(trace, 19, 0, 0)[0] == 20


def test_output_has_its_time() -> None:
    listing = "@main(x) 2\n  call vm.builtin.copy(%0) -> %1\n  call relax.run.print(c[3], %1)\n  ret %1\n"
    trace = run(listing, 5)
    assert [(line.time, line.text, line.pc) for line in trace.output] == [(1, "5", 1)]
    assert trace.executed_pcs == (0, 1, 2)


def test_the_heap_of_symbolic_dimensions_is_kept_as_it_was() -> None:
    listing = """
@main(x) 3
  call vm.builtin.alloc_shape_heap(vm, i1) -> %1
  call vm.builtin.match_shape(%0, %1, i1, i1, i0, c[3])
  call vm.builtin.make_shape(%1, i1, i1, i0) -> %2
  ret %2
"""
    trace = run(listing, ZERO)
    assert trace.result == (2,)
    assert kind_of(value(trace, 1, 0, 1)) == "unwritten"
    assert value(trace, 2, 0, 1).tolist() == [2]


def test_deeply_nested_and_shared_tuples_are_no_burden() -> None:
    limits = Limits(output_bytes=1 << 22)
    deep = "@main(x) 2\n  call vm.builtin.make_tuple(%0) -> %1\n"
    shared = deep + "  call vm.builtin.make_tuple(%1, %1) -> %1\n" * 60
    nested = deep + "  call vm.builtin.make_tuple(%1) -> %1\n" * 1200
    for listing in (shared, nested):
        calls = ("custom_inplace_update(%0)", "custom_identity(%1) -> %1", "relax.run.print(c[3], %1)")
        trace = run(listing + "".join(f"  call {call}\n" for call in calls) + "  ret %1\n", ZERO, limits=limits)
        before, after = (value(trace, at, 0, 1) for at in (len(trace) - 4, len(trace)))
        while is_tuple(before):
            before, after = before[0], after[0]
        assert (before[0], after[0]) == (0, 1)
        assert trace.output
