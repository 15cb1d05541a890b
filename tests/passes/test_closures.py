"""Local functions as values: what seed programs become, and the failure that was reported in 2022."""

from pathlib import Path

import numpy as np
import pytest

from relax_core.bytecode.build import build
from relax_core.diagnostics import CompileError
from relax_core.frontend.parse import parse_text
from relax_core.ir.equality import first_difference
from relax_core.ir.expr import Call, Function
from relax_core.ir.module import IRModule
from relax_core.ir.node import preorder
from relax_core.passes.pipeline import final_module, run_pipeline
from relax_core.vm.virtual_machine import VirtualMachine
from tests.passes.programs import parse, program

SEEDS = Path(__file__).parents[2] / "samples" / "seeds"
LATE_CAPTURE = """
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        @R.function
        def first(y: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
            z = second(y)
            return z

        late = R.exp(x)

        @R.function
        def second(y: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
            z = R.add(y, late)
            return z

        out = first(x)
        return out
"""


def seed(name: str) -> IRModule:
    file = SEEDS / f"{name}.py"
    return parse_text(file.read_text(encoding="utf-8"), file.name).modules[0]


def lifted(module: IRModule, passes: str) -> IRModule:
    return final_module(module, run_pipeline(module, passes))


@pytest.mark.parametrize("name", ["print_closure", "print_closure2"])
def test_lifting_as_in_2022_gives_the_printed_module(name: str) -> None:
    module = lifted(seed(name), "LambdaLift(names='2022')")
    assert first_difference(module, seed(f"{name}_lifted")) is None


def test_the_reported_failure_is_a_diagnostic_at_the_binding() -> None:
    with pytest.raises(CompileError) as caught:
        build(seed("print_closure"), as_in="reported")
    (found,) = caught.value.diagnostics
    assert found.code == "BC001"
    assert "do not have a default for GlobalVar" in found.message
    assert found.span is not None
    assert "def closure()" in found.span.text


def test_the_closure_that_captures_was_not_affected() -> None:
    assert build(seed("print_closure2"), as_in="reported").functions[0].name == "main"


@pytest.mark.parametrize("passes", [None, "LambdaLift(names='2022')", "LambdaLift, ElideClosureWrappers", ""])
@pytest.mark.parametrize("name", ["print_closure", "print_closure2"])
def test_a_closure_prints_opaquely(name: str, passes: str | None) -> None:
    printed: list[str] = []
    args = (np.ones((2, 3), "float32"),) if name.endswith("2") else ()
    VirtualMachine(build(seed(name), passes=passes), on_output=printed.append)["main"](*args)
    assert [line.strip() for line in printed] == ["<closure>"]


def test_a_wrapper_that_does_not_escape_goes() -> None:
    module = lifted(program("recursion"), "Normalize, LambdaLift, ElideClosureWrappers")
    main = module["main"]
    assert isinstance(main, Function)
    (call,) = [item for item in preorder(main) if isinstance(item, Call)]
    assert call.op is module.definitions[1].var
    assert [item.kind for item in run_pipeline(module, "ElideClosureWrappers")[0].remarks] == []


def test_a_wrapper_that_escapes_stays_and_says_why() -> None:
    stage = run_pipeline(program("capture"), "LambdaLift, ElideClosureWrappers")[-1]
    assert not stage.is_changed
    (remark,) = stage.remarks
    assert remark.kind == "missed"
    assert "escapes" in remark.message


def test_a_closure_that_needs_a_later_value_is_a_diagnostic() -> None:
    (found,) = run_pipeline(parse(LATE_CAPTURE), "LambdaLift")[-1].diagnostics
    assert found.code == "PS006"
    assert "late" in found.message
