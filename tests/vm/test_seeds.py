"""The programs of samples/seeds run as written and agree with NumPy; what is out of range is a located diagnostic."""

import runpy
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from relax_core.frontend.parse import parse_text
from relax_core.ir.expr import Function
from relax_core.printer.tvmscript import print_module
from relax_core.vm.objects.values import Closure, kind_of
from tests.apache_tvm import relax, tvm
from tests.vm.assemble import result_of
from tests.vm.programs import floats, run_sample, run_text, sample_text

SpellingName = Literal["2022", "2023", "2026"]

X = floats(2, 3)
CLOSURES: dict[str, tuple[tuple[Any, ...], str, int]] = {
    "print_closure": ((), "main_closure", 0),
    "print_closure2": ((X,), "main_closure", 1),
    "print_closure_lifted": ((), "lifted_func_0", 0),
    "print_closure2_lifted": ((X,), "lifted_func_0", 1),
}
OUT_OF_RANGE = {
    "n > k": ((4, 2), ("`C[i, j]`", "j = 2", "C has 2 columns", "i0 = 0", "j0 = 2", "k0 = 0"), "C[i, j] = 0.0"),
    "n < k": ((2, 4), ("`A[i, k]`", "k = 2", "A has 2 columns", "i0 = 0", "j0 = 0", "k0 = 2"), "A[i, k]"),
}


@pytest.mark.parametrize("name", CLOSURES)
def test_printing_a_closure_shows_that_it_is_one_and_the_debugger_shows_what_is_in_it(name: str) -> None:
    args, function, capture_count = CLOSURES[name]
    trace = run_sample(f"seeds/{name}.py", *args)
    assert result_of(trace) is None
    assert [line.text for line in trace.output] == ["<closure>"]
    registers = trace.registers_at(trace.output[0].time, 0)
    closures = [value for value in registers if isinstance(value, Closure)]
    if closures:
        assert closures[-1].name == function
        assert [kind_of(value) for value in closures[-1].captures] == ["tensor"] * capture_count
    else:
        assert capture_count == 0


def test_the_guides_example_agrees_with_numpy() -> None:
    x, w = floats(2, 3), floats(3, 4)
    trace = run_sample("seeds/my_ir_module_guide.py", x, w, entry="relax_func")
    np.testing.assert_allclose(result_of(trace), np.exp((x @ w).ravel()) + 1, rtol=1e-5)


def test_tir_matmul_as_written_multiplies_by_the_transpose() -> None:
    x, y = floats(3, 4), np.arange(16, dtype=np.float32).reshape(4, 4)
    trace = run_sample("seeds/my_ir_module.py", x, y, entry="relax_func")
    np.testing.assert_allclose(result_of(trace), np.tile(2 * (x @ y.T), (1, 2)), rtol=1e-5)
    assert len(trace.output) == 1


@pytest.mark.parametrize("case", OUT_OF_RANGE)
def test_tir_matmul_as_written_leaves_its_buffers_for_other_sizes(case: str) -> None:
    shape, words, text = OUT_OF_RANGE[case]
    error = run_sample("seeds/my_ir_module.py", floats(3, shape[0]), floats(*shape), entry="relax_func").error
    assert error is not None
    assert error.span is not None
    assert error.span.text == text
    assert [word for word in words if word not in error.message] == []
    assert [related for _, related in error.related if "R.call_tir" in related.text]


RUNNING: dict[str, tuple[str, tuple[Any, ...]]] = {
    **{name: ("main", args) for name, (args, _, _) in CLOSURES.items()},
    "my_ir_module": ("relax_func", (floats(3, 4), np.arange(16, dtype=np.float32).reshape(4, 4))),
    "my_ir_module_guide": ("relax_func", (floats(2, 3), floats(3, 4))),
}


@pytest.mark.parametrize("spelling", ["2022", "2023", "2026"])
@pytest.mark.parametrize("name", RUNNING)
def test_every_spelling_runs_the_same(name: str, spelling: SpellingName) -> None:
    entry, args = RUNNING[name]
    text = spelled(name, spelling)
    trace = run_text(text, *args, entry=entry)
    expected = run_sample(f"seeds/{name}.py", *args, entry=entry)
    assert [line.text for line in trace.output] == [line.text for line in expected.output]
    if expected.result is None:
        assert result_of(trace) is None
    else:
        np.testing.assert_array_equal(result_of(trace), result_of(expected))


@pytest.mark.tvm
@pytest.mark.parametrize("name", RUNNING)
def test_the_2026_spelling_agrees_with_apache_tvm(name: str, tmp_path: Path) -> None:
    entry, args = RUNNING[name]
    lines: list[Any] = []
    register_in_tvm(lines)
    path = tmp_path / "module.py"
    text = spelled(name, "2026", impure=(entry,)).replace("# from", "from")
    # It wants dimensions where the RFC gives a variable that is bound to them.
    path.write_text(text.replace("R.Tensor(lv3,", "R.Tensor((n * m,),"), encoding="utf-8")
    found = runpy.run_path(str(path))
    module = relax.transform.LambdaLift()(next(item for item in found.values() if isinstance(item, tvm.IRModule)))
    machine = relax.VirtualMachine(relax.build(module, "llvm"), tvm.cpu())
    theirs = machine[entry](*(tvm.runtime.tensor(arg) for arg in args))
    ours = run_sample(f"seeds/{name}.py", *args, entry=entry)
    if ours.result is not None:
        np.testing.assert_allclose(result_of(ours), theirs.numpy(), rtol=1e-5)  # the order of sums may differ
    assert len(lines) in (0, len(ours.output))


def spelled(name: str, spelling: SpellingName, impure: tuple[str, ...] = ()) -> str:
    """Print a seed. Functions of 2022 say nothing about purity; those in `impure` are declared so."""
    module = parse_text(sample_text(f"seeds/{name}.py"), name).modules[0]
    for definition in module:
        if definition.var.name in impure and isinstance(definition.function, Function):
            function = replace(definition.function, is_pure=False)
            module = module.with_definitions(replace(definition, function=function))
    return print_module(module, spelling=spelling).text


def register_in_tvm(lines: list[Any]) -> None:
    def tile(a: Any, out: Any) -> None:
        out.copyfrom(np.tile(a.numpy(), (1, 2)))

    def update(a: Any) -> None:
        a.copyfrom(a.numpy() + 1)

    def add(a: Any, b: Any) -> Any:
        return tvm.runtime.tensor(a.numpy() + b.numpy())

    functions = {"custom_tile": tile, "custom_inplace_update": update, "custom_add": add, "custom_print": lines.append}
    for name, function in functions.items():
        tvm.register_global_func(name, function, override=True)
