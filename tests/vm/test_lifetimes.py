"""The memory of a run: who held which bytes when, and tensors that are used after their storage was taken again."""

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from relax_core.bytecode.executable import DTypeConstant, ShapeConstant
from relax_core.diagnostics import RunError
from relax_core.engine.inputs import generate
from relax_core.ir.expr import Function
from relax_core.present.memory import ROWS, present_memory
from relax_core.vm.machine import Machine
from relax_core.vm.recording.fork import Setting
from relax_core.vm.recording.lifetimes import Life, MemoryUse, memory_of
from relax_core.vm.recording.trace import Trace
from relax_core.vm.virtual_machine import entry_arguments
from tests.vm.assemble import assemble
from tests.vm.kernels import PythonEngine, add_one
from tests.vm.programs import HEAD, executable_of, run_text, sample_text

CONSTANTS = (ShapeConstant((4,)), DTypeConstant("float32"), "global", ShapeConstant((2,)))
PAIR = np.ones(2, np.float32)
STORAGE = "call vm.builtin.alloc_storage(vm, c[0], i0, c[1], c[2])"
CHAIN = (
    HEAD
    + """@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        y = R.add(x, x)
        z = R.add(y, R.const(1.0, "float32"))
        return z
"""
)


def traced(lines: list[str], count: int) -> Trace:
    listing = f"@main(x) {count}\n" + "\n".join(f"  {line}" for line in lines)
    executable = assemble(listing, CONSTANTS, {"add_one": add_one()})
    trace = Machine(executable, engine=PythonEngine()).run("main", (PAIR.copy(),))
    assert trace.error is None, trace.error
    return trace


def of_kind(memory: MemoryUse, kind: str) -> list[Life]:
    return [life for life in memory.lives if life.kind == kind]


def allocated(storage: int, offset: int, register: int) -> str:
    return f"call vm.builtin.alloc_tensor(%{storage}, i{offset}, c[3], c[1]) -> %{register}"


def test_a_storage_lives_while_a_tensor_in_it_does_and_a_kill_ends_it() -> None:
    memory = memory_of(
        traced(
            [
                f"{STORAGE} -> %1",
                allocated(1, 8, 2),
                "call add_one(%0, %2)",
                "call vm.builtin.null_value() -> %1",
                "call vm.builtin.null_value() -> %2",
                f"{STORAGE} -> %3",
                "ret %0",
            ],
            4,
        )
    )
    first, second = of_kind(memory, "storage")
    (tensor,) = of_kind(memory, "tensor")
    assert (first.start, first.end) == (1, 5), "the tensor kept it"
    assert (tensor.start, tensor.first_write, tensor.last_use, tensor.end, tensor.offset) == (2, 2, 2, 5, 8)
    assert tensor.storage is first
    assert (second.start, second.end) == (6, 7)
    assert list(zip(memory.times, memory.size_bytes, strict=True)) == [(0, 8), (1, 24), (5, 8), (6, 24), (7, 8)]
    assert memory.peak == (24, 1)
    assert tensor.names == ["main.%2"]


def test_what_tuples_closures_and_registers_share_is_one_memory() -> None:
    memory = memory_of(
        traced(
            [
                f"{STORAGE} -> %1",
                allocated(1, 0, 2),
                "call add_one(%0, %2)",
                "call vm.builtin.make_tuple(%2, %0) -> %3",
                "call vm.builtin.copy(%2) -> %4",
                "call vm.builtin.null_value() -> %2",
                "call vm.builtin.null_value() -> %4",
                "call vm.builtin.null_value() -> %3",
                "ret %0",
            ],
            5,
        )
    )
    (tensor,) = of_kind(memory, "tensor")
    assert tensor.names == ["main.%2", "main.%4"]
    assert tensor.end == 8


def test_a_tensor_that_is_read_after_its_bytes_were_taken_is_found() -> None:
    memory = memory_of(run_text(sample_text("relax/storage_reused.py"), np.ones(4, np.float32)))
    (reuse,) = memory.reuses
    assert (reuse.tensor.names, reuse.other.names) == (["main.a"], ["main.c"])
    assert reuse.write < reuse.read
    assert reuse.tensor.storage is reuse.other.storage
    assert not reuse.is_shared


def test_tensors_that_the_program_lets_share_bytes_are_no_fault() -> None:
    """`b` is `a` under another name, made before either is written: an update in place, read as either."""
    text = sample_text("relax/storage_reused.py")
    begin, end = text.index("        first = "), text.index("        return d")
    storage, made = (line for line in text[begin:end].splitlines() if "first" in line and "c = " not in line)
    body = (storage, made, made.replace("a = ", "b = "), "        cls.double(x, a)", "        cls.double(a, b)",
            '        d = R.builtin.alloc_tensor(R.shape([4]), R.dtype("float32"), R.prim_value(0), R.str("global"))',
            "        cls.add(a, b, d)", "")  # fmt: skip
    trace = run_text(text[:begin] + "\n".join(body) + text[end:], np.ones(4, np.float32))
    (reuse,) = memory_of(trace).reuses
    assert reuse.is_shared
    view = present_memory(trace)
    assert view.faults == ()
    assert not any(box.is_faulty for row in view.rows for box in row.boxes)
    assert "the program made both in the same bytes before it wrote them" in view.note
    np.testing.assert_array_equal(np.asarray(trace.result), 8.0)


def test_following_the_memory_can_be_cancelled() -> None:
    with pytest.raises(RunError, match="VM008"):
        memory_of(run_text(CHAIN, np.ones(4, np.float32)), lambda: True)


@pytest.mark.tvm
def test_apache_tvm_reads_there_what_the_other_tensor_wrote() -> None:
    from tests.apache_tvm import from_source, relax, tvm

    text = sample_text("relax/storage_reused.py")
    built = relax.build(from_source(text[text.index("@I.ir_module") :]), "llvm")
    x = np.arange(1, 5, dtype=np.float32)
    theirs = relax.VirtualMachine(built, tvm.cpu())["main"](tvm.runtime.tensor(x)).numpy()
    ours = run_text(text, x)
    np.testing.assert_array_equal(np.asarray(ours.result), theirs)
    np.testing.assert_array_equal(theirs, 16 * x, "add(c, c), where the program says add(a, c)")


PLANS = st.lists(
    st.one_of(
        st.tuples(st.just("alloc"), st.integers(1, 2), st.sampled_from((0, 4, 8))),
        st.tuples(st.just("write"), st.integers(0, 9), st.integers(0, 9)),
    ),
    max_size=14,
)


@settings(max_examples=40, deadline=None)
@given(PLANS)
@example([("alloc", 1, 0), ("alloc", 1, 4), ("write", 0, 0), ("write", 0, 1), ("write", 0, 0), ("write", 1, 1)])
def test_exactly_the_reads_of_bytes_that_another_tensor_wrote_are_found(plan: list[tuple[str, int, int]]) -> None:
    lines = [f"{STORAGE} -> %1", f"{STORAGE} -> %2"]
    tensors: list[tuple[int, int, int]] = []
    owner: dict[int, list[int]] = {1: [-1] * 16, 2: [-1] * 16}
    last_write: dict[int, int] = {}
    line_of: list[int] = []
    reported: set[int] = set()
    late: list[tuple[int, int, bool]] = []
    taken_by: dict[int, tuple[int, int]] = {}
    for what, a, b in plan:
        if what == "alloc":
            tensors.append((a, b, 3 + len(tensors)))
            line_of.append(len(lines))
            lines.append(allocated(*tensors[-1]))
            continue
        if not tensors:
            continue
        source, target = a % (len(tensors) + 1) - 1, b % len(tensors)
        storage, offset, register = tensors[target]
        read = tensors[source][2] if source >= 0 else 0
        if source >= 0:
            where, start, _ = tensors[source]
            is_late = any(item != source for item in owner[where][start : start + 8])
            if source in last_write and is_late and source not in reported:
                other, written = taken_by[source]
                late.append((source, len(lines), line_of[other] < written))
                reported.add(source)
        lines.append(f"call add_one(%{read}, %{register})")
        owner[storage][offset : offset + 8] = [target] * 8
        last_write[target] = len(lines) - 1
        # Whose value this overwrote, and when that one had been written.
        for number, (where, start, _) in enumerate(tensors):
            if number != target and where == storage and start < offset + 8 and offset < start + 8:
                taken_by[number] = target, last_write.get(number, -1)
        # Whoever loses bytes is reported at its next read, and so is who was reported and loses bytes again.
        reported.discard(target)
        reported -= {
            number
            for number, (where, start, _) in enumerate(tensors)
            if number != target and where == storage and start < offset + 8 and offset < start + 8
        }
    lines.append("ret %0")
    memory = memory_of(traced(lines, 3 + len(tensors)))
    made = of_kind(memory, "tensor")
    assert [(made.index(item.tensor), item.read, item.is_shared) for item in memory.reuses] == late


SAMPLES = (
    "relax/loop.py",
    "relax/fib.py",
    "relax/closure_returned.py",
    "relay/references.relay",
    "relay/lstm_list.relay",
)


@pytest.mark.parametrize("path", SAMPLES)
def test_no_sample_uses_its_memory_too_late_and_all_lives_are_in_the_run(path: str) -> None:
    executable = executable_of(sample_text(path), path)
    entry = executable.functions[executable.index_of["main"]]
    assert isinstance(entry.node, Function)
    trace = Machine(executable).run("main", entry_arguments(executable, "main", generate(entry.node, 0, {})))
    memory = memory_of(trace)
    assert memory.reuses == ()
    assert all(0 <= life.start <= life.end <= len(trace) for life in memory.lives)
    assert all(life.first_write <= life.last_use < life.end + 1 for life in memory.lives)
    assert min(memory.size_bytes) >= 0
    own = of_kind(memory, "argument")
    assert memory.size_bytes[0] == sum(life.size_bytes for life in own), "what the host gave is there at the start"


def test_a_changed_run_holds_the_tensor_that_was_put_in() -> None:
    trace = run_text(CHAIN, np.ones(4, np.float32))
    register = next(number for number, var in enumerate(_variables(trace)) if var is not None and var.name == "y")
    at = next(time for time in range(len(trace)) if isinstance(trace.value_at(time, 0, register), np.ndarray))
    other = Machine(trace.executable).resume(trace, at, [Setting(0, register, np.zeros(4, np.float32))])
    before, after = memory_of(trace), memory_of(other)
    put_in = [life for life in after.lives if life.start == at and life.kind == "tensor" and life.storage is None]
    assert [life.names for life in put_in] == [["main.y"]]
    assert len(after.lives) == len(before.lives) + 1


def _variables(trace: Trace) -> tuple[Any, ...]:
    return trace.executable.functions[trace.frames[0].function].register_vars


def test_the_view_names_what_the_text_names_and_keeps_the_largest() -> None:
    trace = run_text(CHAIN, np.ones(4, np.float32))
    view = present_memory(trace, frozenset(("x", "y", "z")))
    assert [box.label for row in view.rows for box in row.boxes] == ["main.x", "main.y", "main.z"]
    assert view.rows[1].boxes[0].note == "(4,) f32, also main.alloc"
    assert view.summary.startswith("At most 48 B, at time ")
    text = view.to_text()
    assert "argument main.x" in text
    assert "  main.y at byte 0" in text
    steps = "".join(f"        x{at + 1} = R.add(x{at}, x{at})\n" for at in range(ROWS + 20))
    long = (
        CHAIN.replace("x: R.Tensor", "x0: R.Tensor").split("        y =")[0] + steps + f"        return x{ROWS + 20}\n"
    )
    cut = present_memory(run_text(long, np.ones(4, np.float32)))
    assert len(cut.rows) == ROWS
    assert cut.note == "21 smaller ones are not shown."
    assert cut.peak_bytes == max(cut.sizes)
    assert len(cut.times) <= 600
