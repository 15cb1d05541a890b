"""Elements that nothing wrote are followed through storages, from one kernel to the next, until one is read."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from relax_core.cli import main
from relax_core.diagnostics import Diagnostic, RunError
from relax_core.jit.options import KernelOptions
from relax_core.vm.machine import Machine
from relax_core.vm.recording.fork import Setting
from relax_core.vm.virtual_machine import VirtualMachine
from tests.vm.programs import HEAD, executable_of

FINDING = KernelOptions(finds_uninitialised=True)
MODULE = (
    HEAD
    + """@I.ir_module
class Module:
    @T.prim_func(private=True)
    def head(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
        for i in range(3):
            y[i] = x[i]

    @T.prim_func(private=True)
    def tail(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
        y[3] = x[3]

    @T.prim_func(private=True)
    def double(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
        for i in range(4):
            y[i] = x[i] * T.float32(2)

    @T.prim_func(private=True)
    def half(x: T.Buffer((4,), "float32"), y: T.Buffer((2,), "float32")):
        for i in range(2):
            y[i] = x[i]

    @T.prim_func(private=True)
    def count(x: T.Buffer((8,), "int16"), y: T.Buffer((8,), "int16")):
        for i in range(8):
            y[i] = x[i]

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        R.func_attr({"relax.force_pure": True})
        cls = Module
        s = R.memory.alloc_storage(R.shape([64]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
"""
)


def tensor(name: str, offset: int, count: int = 4, dtype: str = "float32") -> str:
    given = f'R.prim_value({offset}), R.shape([{count}]), R.dtype("{dtype}"), R.prim_value(0)'
    return f"{name} = R.memory.alloc_tensor(s, {given})"


A, B, C = tensor("a", 0), tensor("b", 16), tensor("c", 0)
PRINTED = '_ = R.print(a, format="{}")'
VIEW = 'v = R.call_packed("vm.builtin.reshape", a, R.shape([4]), sinfo_args=(R.Tensor((4,), dtype="float32"),))'
COPIED = 'R.call_packed("custom_copy", {0}, {1}, sinfo_args=(R.Tuple,))'
SAME = 'w = R.call_packed("custom_identity", a, sinfo_args=(R.Tensor((4,), dtype="float32"),))'


def text(*lines: str) -> str:
    return MODULE + "".join(f"        {line}\n" for line in lines)


def found(*lines: str, **options: Any) -> Diagnostic | None:
    """Run on every tier; the plain and the recorded run end alike."""
    executable = executable_of(text(*lines))
    x = np.arange(4, dtype=np.float32)
    machines = (Machine(executable, record=record, options=FINDING, **options) for record in (True, False, False))
    errors = [machine.run("main", (x,)).error for machine in machines]
    assert len({None if error is None else error.render() for error in errors}) == 1
    return errors[0]


@pytest.mark.parametrize(
    "lines",
    [
        (A, "cls.double(x, a)", "return a"),
        (A, "cls.head(x, a)", "cls.tail(x, a)", "return a"),
        (A, B, "cls.head(x, a)", "cls.tail(x, a)", "cls.double(a, b)", "return b"),
        (A, tensor("h", 0, 2), "cls.head(x, a)", tensor("b", 16, 2), "cls.half(a, b)", "return (b, h)"),
        (A, C, "cls.double(x, a)", B, "cls.double(c, b)", "return b"),
        (A, "cls.double(x, a)", tensor("i", 0, 8, "int16"), tensor("j", 16, 8, "int16"), "cls.count(i, j)", "return j"),
        (A, VIEW, "cls.double(x, v)", "return a"),
        (A, "cls.double(x, a)", "cls.double(a, a)", "return a"),
        (A, COPIED.format("x", "a"), "return a"),
        (A, B, "cls.head(x, a)", COPIED.format("x", "a"), COPIED.format("a", "b"), "return b"),
        (A, "cls.double(x, a)", PRINTED, "R.memory.kill_tensor(a)", "return x"),
    ],
    ids=str,
)
def test_what_was_written_is_not_reported(lines: tuple[str, ...]) -> None:
    assert found(*lines) is None


@pytest.mark.parametrize(
    ("lines", "code", "words", "places"),
    [
        ((A, B, "cls.head(x, a)", "cls.double(a, b)", "return b"), "JT020", "element (3,) of `a`", ["head", "alloc"]),
        ((A, B, "cls.double(a, b)", "return b"), "JT020", "element (0,) of `a`", ["alloc"]),
        ((A, B, "cls.head(x, a)", VIEW, "cls.double(v, b)", "return b"), "JT020", "element (3,)", ["head", "alloc"]),
        ((A, "cls.head(x, a)", "return a"), "VM056", "the host is given element (3,) of `a`", ["head", "alloc"]),
        ((A, "return (x, a)"), "VM056", "the host is given element (0,) of `a`", ["alloc"]),
        ((A, "cls.head(x, a)", SAME, "return x"), "VM056", "`custom_identity` reads element (3,)", ["head", "alloc"]),
        ((A, B, COPIED.format("a", "b"), "return b"), "VM056", "`custom_copy` reads element (0,)", ["alloc"]),
        ((A, "cls.tail(x, a)", PRINTED, "return x"), "VM056", "`R.print` reads element (0,)", ["tail", "alloc"]),
        ((A, "cls.double(a, a)", "return a"), "JT020", "element (0,) of `a`", ["alloc"]),
        (
            (A, "cls.double(x, a)", "R.memory.kill_tensor(a)", C, B, "cls.double(c, b)", "return b"),
            "JT020",
            "element (0,) of `c`",
            ["alloc"],
        ),
        (
            (tensor("h", 0, 3), tensor("i", 0, 8, "int16"), tensor("k", 2, 1, "int16"), "return k"),
            "VM056",
            "element (0,) of `k`",
            ["alloc"],
        ),
    ],
    ids=str,
)
def test_what_nothing_wrote_is_reported_with_both(
    lines: tuple[str, ...], code: str, words: str, places: list[str]
) -> None:
    error = found(*lines)
    assert error is not None
    assert error.code == code
    assert words in error.message
    assert error.span is not None
    said = " ".join(message for message, _ in error.related)
    assert "is allocated here" in said
    assert all(f"`{name}` writes here, but not element" in said for name in places if name != "alloc")


def test_a_tensor_in_poisoned_memory_holds_nothing_whatever_lay_there() -> None:
    lines = (A, "cls.double(x, a)", C, B, "cls.double(c, b)", "return b")
    assert found(*lines) is None
    error = found(*lines, poisons_memory=True)
    assert error is not None
    assert error.code == "JT020"


def test_a_run_that_goes_on_knows_what_was_written_until_then() -> None:
    executable = executable_of(text(A, B, "cls.head(x, a)", "cls.double(a, b)", "return b"))
    trace = Machine(executable, options=FINDING).run("main", (np.ones(4, np.float32),))
    assert trace.error is not None
    register = next(
        number
        for number, var in enumerate(executable.functions[trace.frames[0].function].register_vars)
        if var is not None and var.name == "a"
    )
    for at in range(2, len(trace) + 1):
        again = Machine(executable, options=FINDING).resume(trace, at)
        assert again.error is not None
        assert again.error.render() == trace.error.render()
    change = Setting(0, register, np.full(4, 5, np.float32), is_in_place=True)
    mended = Machine(executable, options=FINDING).resume(trace, len(trace), [change])
    assert mended.error is None
    assert np.asarray(mended.result).tolist() == [10] * 4


def test_python_and_the_command_line_say_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = text(A, B, "cls.head(x, a)", "cls.double(a, b)", "return b")
    with pytest.raises(RunError, match="JT020"):
        VirtualMachine(executable_of(program), finds_uninitialised=True)["main"](np.ones(4, np.float32))
    file = tmp_path / "partly.py"
    file.write_text(program, encoding="utf-8")
    assert main(["run", str(file), "--find-uninitialised"]) == 1
    said = capsys.readouterr()
    assert "`head` writes here, but not element (3,)" in said.out + said.err
