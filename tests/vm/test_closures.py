"""A function as a value is a closure in every position: with and without captures, global and local."""

from typing import Any

import numpy as np
import pytest

from relax_core.diagnostics import RunError
from relax_core.vm.external.packed import Registry
from relax_core.vm.objects.values import Closure, kind_of
from relax_core.vm.virtual_machine import VirtualMachine
from tests.vm.assemble import result_of
from tests.vm.programs import HEAD, executable_of, floats, run_text

VECTOR = 'R.Tensor((3,), "float32")'
MODULE = f"""{HEAD}@I.ir_module
class Module:
    @R.function
    def double(x: {VECTOR}) -> {VECTOR}:
        y = R.add(x, x)
        return y

    @R.function
    def negate(x: {VECTOR}) -> {VECTOR}:
        y = R.negative(x)
        return y

    @R.function
    def apply(g: R.Callable(({VECTOR},), {VECTOR}), x: {VECTOR}) -> {VECTOR}:
        y = g(x)
        return y

    @R.function(pure=False)
    def main(x: {VECTOR}, k: {VECTOR}, c: R.Tensor((), "bool")):
        cls = Module
"""
LOCAL = f"""        @R.function
        def f(y: {VECTOR}) -> {VECTOR}:
            z = R.add(y, y)
            return z
"""
CAPTURES = f"""        @R.function
        def f(y: {VECTOR}) -> {VECTOR}:
            z = R.multiply(k, y)
            return z
"""
KINDS = {
    "a global function": ("", "cls.double"),
    "a local function without captures": (LOCAL, "f"),
    "a local function with a capture": (CAPTURES, "f"),
}
POSITIONS = {
    "called": "r = {f}(x)",
    "bound": "g = {f}\nr = g(x)",
    "put in a tuple": "t = ({f}, x)\ng = t[0]\nr = g(x)",
    "passed to a Relax function": "r = cls.apply({f}, x)",
    "passed to a packed function": f'r = R.call_packed("custom_apply", {{f}}, x, ty_args={VECTOR})',
    "given by a packed function": f'g = R.call_packed("custom_identity", {{f}})\nr: {VECTOR} = g(x)',
    "chosen by if": "if c:\n    g = {f}\nelse:\n    g = cls.negate\nr = g(x)",
    "chosen by else": "if R.logical_not(c):\n    g = cls.negate\nelse:\n    g = {f}\nr = g(x)",
}
X, K = floats(3), np.array([2, 3, 4], np.float32)


def program(kind: str, lines: str) -> str:
    definition, name = KINDS[kind]
    body = "".join(f"        {line}\n" for line in lines.format(f=name).splitlines())
    return MODULE + definition + body


def expected(kind: str) -> Any:
    return X * K if "with a capture" in kind else X + X


@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_it_is_called(kind: str, position: str) -> None:
    trace = run_text(program(kind, POSITIONS[position] + "\nreturn r"), X, K, True)
    assert np.array_equal(result_of(trace), expected(kind))


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_returned_to_the_host_who_calls_it(kind: str) -> None:
    vm = VirtualMachine(executable_of(program(kind, "return {f}")))
    closure = vm["main"](X, K, True)
    assert repr(closure) == "<closure>"
    assert np.array_equal(closure(X), expected(kind))


@pytest.mark.parametrize("way", ["an argument", "in a tuple", "an argument of a closure", "a result"])
def test_it_is_refused_by_a_machine_of_another_executable(way: str) -> None:
    """The index of a function says nothing in another program."""
    home, other = (VirtualMachine(executable_of(program(kind, "return {f}"))) for kind in KINDS if "local" in kind)
    foreign = home["main"](X, K, True)
    own = other["main"](X, K, True)
    registry = Registry()
    registry.register("foreign", lambda: foreign)
    calling = VirtualMachine(
        executable_of(program("a global function", 'r = R.call_packed("foreign")\nreturn r')), registry=registry
    )
    calls = {
        "an argument": lambda: other["apply"](foreign, X),
        "in a tuple": lambda: other["apply"]((foreign,), X),
        "an argument of a closure": lambda: own(foreign),
        "a result": lambda: calling["main"](X, K, True),
    }
    with pytest.raises(RunError, match="is one of another executable") as caught:
        calls[way]()
    assert [item.code for item in caught.value.diagnostics] == ["VM016"]
    assert np.array_equal(other["apply"](own, X), expected("a local function with a capture"))


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_printed_as_a_closure_and_its_value_as_a_value(kind: str) -> None:
    trace = run_text(program(kind, "a = R.print({f})\nr = {f}(x)\nb = R.print(r)\nreturn b"), X, K, True)
    assert trace.error is None
    assert [line.text for line in trace.output] == ["<closure>", str(expected(kind))]


@pytest.mark.parametrize("kind", KINDS)
def test_the_debugger_sees_function_and_captures(kind: str) -> None:
    trace = run_text(program(kind, "g = {f}\na = R.print(g)\nreturn a"), X, K, True)
    frame = trace.frames_at(trace.output[0].time)[-1]
    found = [value for value in trace.registers_at(trace.output[0].time, frame.frame) if kind_of(value) == "closure"]
    assert found
    closure = found[-1]
    assert isinstance(closure, Closure)
    assert closure.name in ("double", "main_f")
    assert len(closure.captures) == (1 if "with a capture" in kind else 0)
    for captured in closure.captures:
        assert np.array_equal(captured, K)  # pyright: ignore[reportArgumentType]  # it is a tensor
