"""All tiers do the same: event by event, value by value, and where a limit is reached or something fails."""

import re
import sys
from functools import lru_cache
from typing import Any

import numpy as np
import pytest

from relax_core.bytecode.executable import DTypeConstant, Executable, ShapeConstant
from relax_core.diagnostics import RunError
from relax_core.jit.engine import Engine
from relax_core.vm.external.packed import Registry
from relax_core.vm.limits import Limits
from relax_core.vm.machine import Machine
from relax_core.vm.objects.convert import own_copies
from relax_core.vm.virtual_machine import entry_arguments
from tests.vm.assemble import assemble
from tests.vm.kernels import PythonEngine, add_one
from tests.vm.programs import executable_of, sample_text
from tests.vm.test_samples import EXPECTED, FAILING, entry_of
from tests.vm.tiers import differences


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine()


@lru_cache
def sample(path: str, passes: str | None = None) -> Executable:
    return executable_of(sample_text(path), path, passes)


def same(executable: Executable, args: tuple[Any, ...], entry: str = "main", **options: Any) -> None:
    found = differences(executable, entry, lambda: own_copies(entry_arguments(executable, entry, args)), **options)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("passes", [None, "Normalize, LambdaLift"])
@pytest.mark.parametrize("name", EXPECTED)
def test_a_sample_runs_alike(name: str, passes: str | None, engine: Engine) -> None:
    same(sample(f"relax/{name}.py", passes), EXPECTED[name][0], entry_of(name), engine=engine)


@pytest.mark.parametrize("name", FAILING)
def test_a_failing_sample_fails_alike(name: str, engine: Engine) -> None:
    limits = Limits(seconds=0.3 if name == "vm_endless_loop" else 30.0, depth=300)
    same(sample(f"errors/{name}.py"), FAILING[name], limits=limits, engine=engine)


def test_a_long_function_that_runs_nothing_twice_is_interpreted_once_and_then_generated(engine: Engine) -> None:
    length = 800
    lines = "".join(f"        x{at + 1} = R.add(x{at}, x{at - at % 7})\n" for at in range(length))
    text = f"""
@I.ir_module
class M:
    @R.function
    def main(x0: R.Tensor((2,), "float32")):
{lines}        return x{length}
"""
    executable = executable_of(text)
    args = (np.ones(2, "float32"),)
    same(executable, args, engine=engine)
    machine = Machine(executable, engine=engine)
    first = machine.run("main", entry_arguments(executable, "main", args))
    assert not machine.tier.functions
    second = machine.run("main", entry_arguments(executable, "main", args))
    assert [*machine.tier.functions] == [executable.index_of["main"]]
    assert len(first) > 2_000
    assert (first.pcs.tolist(), first.outcome) == (second.pcs.tolist(), "returned")
    np.testing.assert_array_equal(first.result, second.result)


@pytest.mark.parametrize("events", [0, 1, 2, 7, 8, 30, 31, 32, 33, 34, 35, 61, 100, 177, 2913, 2914])
def test_fib_stops_alike_after_any_number_of_events(events: int, engine: Engine) -> None:
    same(sample("relax/fib.py"), (np.array(10),), limits=Limits(events=events), engine=engine)


@pytest.mark.parametrize("events", range(0, 24))
@pytest.mark.parametrize("name", ["callback", "closure_captures", "void_callee", "symbolic_shapes"])
def test_a_sample_stops_alike_after_any_number_of_events(name: str, events: int, engine: Engine) -> None:
    same(sample(f"relax/{name}.py"), EXPECTED[name][0], entry_of(name), limits=Limits(events=events))


@pytest.mark.parametrize("depth", [1, 2, 3, 8, 150])
def test_recursion_stops_alike_at_any_depth(depth: int, engine: Engine) -> None:
    same(
        sample("relax/loop.py"),
        (np.array(200), np.ones((2, 2), np.float32)),
        limits=Limits(depth=depth),
    )


@pytest.mark.parametrize("memory_bytes", [0, 24, 47, 48, 60, 200, 1000, 5000])
@pytest.mark.parametrize("name", ["mlp", "loop", "symbolic_shapes", "closure_local"])
def test_a_sample_runs_out_of_memory_alike(name: str, memory_bytes: int, engine: Engine) -> None:
    limits = Limits(memory_bytes=memory_bytes)
    same(sample(f"relax/{name}.py"), EXPECTED[name][0], entry_of(name), limits=limits, engine=engine)


@pytest.mark.parametrize("retained_bytes", [0, 40, 100, 400])
@pytest.mark.parametrize("name", ["mlp", "loop", "callback", "inplace_update"])
def test_the_same_values_are_given_up(name: str, retained_bytes: int, engine: Engine) -> None:
    limits = Limits(retained_bytes=retained_bytes)
    same(sample(f"relax/{name}.py"), EXPECTED[name][0], entry_of(name), limits=limits, engine=engine)


TWO_CALLS = """
@main(x) 4
  call step(%0) -> %1
  call step(%1) -> %2
  ret %2
@step(x) 6
  call vm.builtin.check_tensor_info(%0, i1, c[1], c[3])
  call vm.builtin.alloc_storage(vm, c[0], i0, c[1], c[2]) -> %1
  call vm.builtin.alloc_tensor(%1, i0, c[0], c[1]) -> %2
  call add_one(%0, %2)
  call vm.builtin.copy(%2) -> %3
  ret %3
"""
CONSTANTS = (ShapeConstant((1,)), DTypeConstant("float32"), "global", "ErrorContext(fn=step, loc=param[0], param=x)")
ONE = np.ones(1, np.float32)


def listing(text: str) -> Executable:
    return assemble(text, CONSTANTS, {"add_one": add_one()})


@pytest.mark.parametrize("events", range(16))
def test_calls_whose_segment_goes_on_behind_them_stop_alike(events: int) -> None:
    same(listing(TWO_CALLS), (ONE,), limits=Limits(events=events), engine=PythonEngine())


@pytest.mark.parametrize("value", [np.ones(1), np.ones((1, 1), np.float32), 3, "text"], ids=str)
@pytest.mark.parametrize("position", range(4))
def test_a_check_that_a_kernel_makes_says_the_same(position: int, value: Any) -> None:
    executable = sample("relax/mlp.py")
    args = (*EXPECTED["mlp"][0][:position], value, *([ONE] * (3 - position)))
    found = differences(executable, "main", lambda: args)
    assert not found, "\n".join(found)
    error = Machine(executable, record=False).run("main", args).error
    assert error is not None
    assert error.code in ("VM011", "VM012")


def nested(depth: int) -> str:
    """Branches within branches; Python takes no more than a hundred."""
    lines = ["call vm.builtin.copy(%0) -> %2"]
    for _ in range(depth):
        lines = [
            "call vm.builtin.read_if_cond(%1) -> %3",
            f"if %3 {len(lines) + 2}",
            *lines,
            "goto 2",
            "call inner(%0) -> %2",
        ]
    body = "".join(f"  {line}\n" for line in (*lines, "ret %2"))
    outer = "@main(x, c) 3\n  call deep(%0, %1) -> %2\n  call inner(%2) -> %2\n  ret %2\n"
    return f"{outer}@deep(x, c) 4\n{body}@inner(x) 1\n  ret %0\n"


@pytest.mark.parametrize("events", [5_000_000, 0, 1, 4, 200, 302, 303, 304, 305])
@pytest.mark.parametrize("condition", [0, 1])
def test_code_that_is_nested_too_deep_is_interpreted(condition: int, events: int) -> None:
    same(listing(nested(100)), (ONE, condition), limits=Limits(events=events))


@pytest.mark.parametrize("call", ["call custom_add(%0, %0) -> %2", "call vm.builtin.copy(%0) -> %2"])
def test_a_jump_backwards_is_interpreted(call: str) -> None:
    loop = "@loop(x) 1\n  call vm.builtin.copy(%0) -> %0\n  goto -1\n"
    text = f"@main(x) 3\n  {call}\n  call loop(%2) -> %2\n  ret %2\n{loop}"
    same(listing(text), (ONE,), limits=Limits(events=1000))


def test_a_host_that_goes_on_after_a_failure_is_recorded_alike() -> None:
    def attempt(function: Any, value: Any) -> Any:
        try:
            return function(value)
        except RunError:
            return value

    registry = Registry()
    registry.register("attempt", attempt)
    text = """
@main(x) 4
  call attempt(f[fails], %0) -> %1
  call attempt(f[works], %1) -> %2
  ret %2
@fails(x) 2
  call works(%0) -> %1
  call nothing(%1) -> %1
  ret %1
@works(x) 2
  call vm.builtin.copy(%0) -> %1
  ret %1
"""
    for events in (5_000_000, *range(14)):
        same(listing(text), (ONE,), registry=registry, limits=Limits(events=events))


CLOSURE_LOOP = """
@main(x) 3
  call vm.builtin.make_closure(f[main]) -> %1
  call vm.builtin.invoke_closure(vm, %1, %0) -> %2
  ret %2
"""


def test_deep_recursion_through_closures_leaves_no_trace_in_python() -> None:
    limit = sys.getrecursionlimit()
    for record in (False, True):
        trace = Machine(listing(CLOSURE_LOOP), record=record).run("main", (ONE,))
        assert trace.error is not None
        assert trace.error.code == "VM003"
    assert sys.getrecursionlimit() == limit


def test_long_code_and_many_branches_are_generated_without_recursion() -> None:
    steps = "".join(f"  call vm.builtin.copy(%{index}) -> %{index + 1}\n" for index in range(5000))
    same(listing(f"@main(x) 5001\n{steps}  ret %5000\n"), (ONE,))


# Names are words and numbers that the writer makes; there is no text, so that nothing of the user's can be in it.
LINE = re.compile(r"[a-zA-Z_][\w (){}\[\],.:;=<>+*/%!-]*")
WORDS = """
def f depth inner if else is not and type len return for in None UNWRITTEN MACHINE DEEPEST r left meter fuel room
refuel make_room note keep put deeper outside charged_outside machine origins callee callable_value arguments bytecode
enter captures function name ndarray ndim dtype shape item fields tag Closure ShapeValue AdtValue StorageValue int float
tuple constant reference builtin kernel maker zeros buffer arena bytes h v or min max match matched wrapped new_tensor
"""


@pytest.mark.parametrize("record", [False, True])
@pytest.mark.parametrize("name", EXPECTED)
def test_generated_code_holds_nothing_of_the_users_text(name: str, record: bool) -> None:
    executable = sample(f"relax/{name}.py")
    machine = Machine(executable, record=record)
    texts = [machine.tier.text_of(index) for index, item in enumerate(executable.functions) if item.kind == "vm"]
    assert all(texts)
    for line in "\n".join(texts).splitlines():
        assert LINE.fullmatch(line.strip()), line
    words = set(re.findall(r"[a-zA-Z_]\w*", "\n".join(texts)))
    known = {re.sub(r"\d+$", "", word) for word in words}
    assert not known - set(WORDS.split())
