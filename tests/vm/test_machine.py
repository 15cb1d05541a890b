"""The machine's loop: calls, closures, jumps, packed functions, limits, and where its failures are."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from relax_core.bytecode.executable import DTypeConstant, ShapeConstant
from relax_core.diagnostics import RunError
from relax_core.vm.builtin.builtins import BUILTINS
from relax_core.vm.external.packed import Registry
from relax_core.vm.limits import Limits
from relax_core.vm.machine import Machine
from relax_core.vm.objects.values import Closure
from relax_core.vm.packed_library.tvm_runtime import TVM_RUNTIME
from relax_core.vm.recording.trace import Trace
from relax_core.vm.virtual_machine import VirtualMachine
from tests.vm.assemble import assemble, result_of
from tests.vm.kernels import PythonEngine, add_one

CORE = Path(__file__).resolve().parents[2] / "relax_core"
CALL = """
@main(x) 3
  call vm.builtin.make_closure(f[inner], %0) -> %1
  call vm.builtin.invoke_closure(vm, %1) -> %2
  ret %2
@inner(y) 2
  call vm.builtin.copy(%0) -> %1
  ret %1
"""
BRANCH = """
@main(c) 4
  call vm.builtin.read_if_cond(%0) -> %1
  if %1 3
  call vm.builtin.copy(i1) -> %2
  goto 2
  call vm.builtin.copy(i2) -> %2
  ret %2
"""
FOREVER = """
@main(x) 2
  call other(%0) -> %1
  ret %1
@other(x) 2
  call main(%0) -> %1
  ret %1
"""


def run(listing: str, *args: Any, constants: tuple[Any, ...] = (), **options: Any) -> Trace:
    return Machine(assemble(listing, constants), **options).run("main", args)


def failure(trace: Trace) -> tuple[str, int]:
    assert trace.error is not None
    assert trace.error.span is not None
    return trace.error.code, trace.error.span.line


def test_every_builtin_that_code_may_call_is_there() -> None:
    files = [path for room in ("bytecode", "passes") for path in (CORE / room).rglob("*.py")]
    named = {name for path in files for name in re.findall(r'"(vm\.builtin\.\w+)"', path.read_text(encoding="utf-8"))}
    assert len(named) > 20
    assert named <= set(BUILTINS) | set(TVM_RUNTIME)


def test_every_builtin_says_its_convention() -> None:
    for name, function in BUILTINS.items():
        assert f"`{name.removeprefix('vm.builtin.')}(" in (function.__doc__ or ""), name


def test_a_closure_appends_its_captures() -> None:
    x = np.arange(3.0)
    trace = run(CALL, x)
    assert np.array_equal(result_of(trace), x)
    assert len(trace) == 5


@pytest.mark.parametrize(("condition", "expected"), [(np.array(True), 1), (np.array(0), 2), (True, 1), (0, 2)])
def test_if_takes_the_branch_of_its_condition(condition: Any, expected: int) -> None:
    assert run(BRANCH, condition).result == expected


def test_if_wants_a_scalar() -> None:
    assert failure(run(BRANCH, np.ones(2))) == ("VM015", 3)


def test_the_same_program_runs_alike_without_a_log() -> None:
    x = np.arange(3.0)
    trace = run(CALL, x, record=False)
    assert np.array_equal(result_of(trace), x)
    assert len(trace) == 0


def test_a_result_for_void_is_dropped_and_a_function_may_return_nothing() -> None:
    trace = run("@main() 2\n  call f()\n  call f() -> %1\n  ret %1\n@f() 1\n  ret void\n")
    assert trace.error is None
    assert trace.result is None


def test_unbounded_recursion_is_a_diagnostic_that_names_the_cycle() -> None:
    trace = run(FOREVER, 1, limits=Limits(depth=50))
    assert failure(trace) == ("VM003", 6)
    assert trace.error is not None
    assert "`main` → `other` → `main`" in trace.error.message
    assert trace.outcome == "limit"
    assert len(trace.frames_at(len(trace))) == 50


def test_the_default_depth_does_not_end_in_the_native_stack() -> None:
    assert failure(run(FOREVER, 1))[0] == "VM003"


def test_closures_and_packed_functions_that_call_each_other_for_ever_are_a_diagnostic() -> None:
    trace = run("@main(f) 2\n  call custom_apply(f[main], f[main]) -> %1\n  ret %1\n", 0)
    assert failure(trace) == ("VM019", 2)


def test_the_number_of_events_is_limited() -> None:
    trace = run(FOREVER, 1, limits=Limits(events=10))
    assert failure(trace)[0] == "VM004"
    assert len(trace) == 10


def test_time_is_limited() -> None:
    assert failure(run(FOREVER, 1, limits=Limits(seconds=0.0)))[0] == "VM005"


def test_output_is_limited() -> None:
    listing = "@main() 1\n  call relax.run.print(c[0], c[1])\n  ret void\n"
    assert failure(run(listing, constants=("", "x" * 100), limits=Limits(output_bytes=50))) == ("VM007", 2)


def test_memory_is_limited_before_it_is_taken() -> None:
    listing = "@main() 2\n  call vm.builtin.alloc_storage(vm, c[0], i0, c[1], c[2]) -> %0\n  ret %0\n"
    trace = run(listing, constants=(ShapeConstant((1 << 40,)), DTypeConstant("float32"), "global"))
    assert failure(trace) == ("VM006", 2)
    assert trace.error is not None
    assert "4,398,046,511,104 bytes" in trace.error.message


def test_memory_that_is_no_longer_reachable_does_not_count() -> None:
    listing = "@main() 2\n" + "  call relax.zeros(c[0], c[1]) -> %0\n" * 50 + "  ret %0\n"
    constants = (ShapeConstant((1000,)), DTypeConstant("float32"))
    assert run(listing, constants=constants, record=False, limits=Limits(memory_bytes=10_000)).error is None


def test_an_operator_that_was_not_lowered_is_evaluated() -> None:
    trace = run("@main(x, y) 3\n  call relax.add(%0, %1) -> %2\n  ret %2\n", np.ones(2), np.ones(2))
    assert np.array_equal(result_of(trace), np.full(2, 2.0))


def test_a_huge_result_of_an_operator_that_was_not_lowered_is_a_diagnostic() -> None:
    listing = "@main() 2\n  call relax.zeros(c[0], c[1]) -> %0\n  ret %0\n"
    trace = run(listing, constants=(ShapeConstant((1 << 40,)), DTypeConstant("float32")))
    assert failure(trace) == ("VM006", 2)


def test_a_missing_packed_function_fails_when_it_is_called_and_not_before() -> None:
    listing = "@main(c) 2\n  if %0 2\n  call custom_ad(%0) -> %1\n  ret %0\n"
    assert run(listing, 0).error is None
    trace = run(listing, 1)
    assert failure(trace) == ("VM001", 3)
    assert trace.error is not None
    assert "custom_ad" in trace.error.message
    assert "custom_add" in trace.error.hint


def test_a_failing_packed_function_is_located() -> None:
    def divide(a: int, b: int) -> int:
        return a // b

    registry = Registry()
    registry.register("divide", divide)
    trace = run("@main() 2\n  call divide(i1, i0) -> %0\n  ret %0\n", registry=registry)
    assert failure(trace) == ("VM002", 2)
    assert trace.error is not None
    assert "ZeroDivisionError" in trace.error.message


def test_a_failure_in_a_callback_is_located_in_the_callback() -> None:
    listing = "@main(x) 2\n  call custom_apply(f[g], %0) -> %1\n  ret %1\n@g(x) 2\n  call nothing(%0)\n  ret %0\n"
    trace = run(listing, 1)
    assert failure(trace) == ("VM001", 5)
    assert [state.depth for state in trace.frames_at(len(trace))] == [0, 1]


def test_a_value_that_is_no_function_cannot_be_called() -> None:
    assert failure(run("@main(x) 2\n  call vm.builtin.invoke_closure(vm, %0) -> %1\n  ret %1\n", 1)) == ("VM014", 2)


def test_a_closure_of_a_kernel_can_be_called() -> None:
    listing = "@main(x, y) 3\n  call vm.builtin.invoke_closure(vm, f[add_one], %0, %1)\n  ret %1\n"
    machine = Machine(assemble(listing, kernels={"add_one": add_one()}), engine=PythonEngine())
    assert np.array_equal(result_of(machine.run("main", (np.ones(2), np.zeros(2)))), np.full(2, 2.0))


def test_a_kernel_is_compiled_when_it_is_first_called() -> None:
    listing = "@main(c, x, y) 3\n  if %0 3\n  call add_one(%1, %2)\n  call add_one(%1, %2)\n  ret %2\n"
    engine = PythonEngine()
    machine = Machine(assemble(listing, kernels={"add_one": add_one()}), engine=engine)
    machine.run("main", (0, np.ones(2), np.ones(2)))
    assert engine.compiled == []
    machine.run("main", (1, np.ones(2), np.ones(2)))
    assert engine.compiled == ["add_one"]


def test_numpy_goes_in_and_out_and_tuples_are_tuples() -> None:
    vm = VirtualMachine(
        assemble(
            "@main(x, n, s) 4\n  call vm.builtin.make_tuple(%0, %1, %2, c[0]) -> %3\n  ret %3\n",
            (ShapeConstant((2, 3)),),
        )
    )
    x = np.arange(6.0).reshape(2, 3)
    result = vm["main"](x, 3, "text")
    assert result[0] is x
    assert result[1:] == (3, "text", (2, 3))


def test_a_returned_closure_can_be_called_and_shows_nothing() -> None:
    vm = VirtualMachine(assemble(CALL.replace("ret %2", "ret %1")))
    closure = vm["main"](np.ones(2))
    assert repr(closure) == "<closure>"
    assert np.array_equal(closure(), np.ones(2))


@pytest.mark.parametrize(("name", "args", "code"), [("nothing", (), "VM009"), ("main", (1, 2), "VM010")])
def test_a_wrong_call_from_the_host_is_a_diagnostic(name: str, args: tuple[Any, ...], code: str) -> None:
    with pytest.raises(RunError) as caught:
        VirtualMachine(assemble(CALL))[name](*args)
    assert caught.value.diagnostics[0].code == code


def test_a_global_function_as_a_value_is_a_closure_without_captures() -> None:
    trace = run("@main() 1\n  ret f[g]\n@g() 1\n  ret void\n")
    assert isinstance(trace.result, Closure)
    assert (trace.result.name, trace.result.captures) == ("g", ())


def test_print_shows_a_closure_as_a_closure_and_nothing_else() -> None:
    listing = "@main() 1\n  call relax.run.print(c[0], f[g], c[1])\n  ret void\n@g() 1\n  ret void\n"
    trace = run(listing, constants=("", ShapeConstant((2, 3))))
    assert [line.text for line in trace.output] == ["<closure> (2, 3)"]
    trace = run(listing, constants=("{1}: {} {{}}", ShapeConstant((2, 3))))
    assert [line.text for line in trace.output] == ["(2, 3): <closure> {}"]


def test_no_run_sees_what_another_left_on_the_same_machine() -> None:
    listing = """
@main(x) 2
  call vm.builtin.copy(%0) -> %1
  ret %1
@prints() 1
  call relax.run.print(c[0], c[1])
  ret void
@fails() 1
  call nowhere() -> %0
  ret %0
"""
    executable = assemble(listing, ("{}", "text"))
    machine = Machine(executable, record=False)
    for entry, args in (("main", (1,)), ("main", (2,)), ("prints", ()), ("main", (3,)), ("fails", ()), ("prints", ())):
        for _ in range(2):
            trace, alone = machine.run(entry, args), Machine(executable, record=False).run(entry, args)
            assert (trace.result, trace.outcome) == (alone.result, alone.outcome)
            assert [line.text for line in trace.output] == [line.text for line in alone.output]
            assert (trace.error is None) == (entry != "fails")


def test_a_run_that_is_cancelled_before_it_starts_stops_at_its_first_instruction() -> None:
    machine = Machine(assemble("@main(x) 2\n  call vm.builtin.copy(%0) -> %1\n  ret %1\n"), record=False)
    assert machine.call("main", (1,)) == 1
    machine.cancel()
    with pytest.raises(RunError, match="VM008"):
        machine.call("main", (1,))
    assert machine.call("main", (2,)) == 2
