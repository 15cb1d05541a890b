"""How each operator is said to run is how it runs, in the module that shows a call of it."""

from typing import Any

import numpy as np
import pytest

import relax_core as rc
from relax_core.check.check import check
from relax_core.engine.inputs import generate
from relax_core.ir.expr import Call, Function, Null, Op
from relax_core.ir.module import IRModule
from relax_core.ir.node import preorder
from relax_core.ops import OPS
from relax_core.ops.example import EXAMPLES, example
from relax_core.ops.spec import OpSpec
from relax_core.passes.pipeline import final_module, run_pipeline
from relax_core.present.catalog_of.catalog import example_llvm, example_tir
from tests.narrow import is_tuple
from tests.ops.test_more_operators import TOLERANCE


def those(*ways: str) -> list[OpSpec]:
    return [spec for spec in OPS.values() if spec.realized_by in ways]


def module_of(spec: OpSpec) -> IRModule:
    return rc.parse(example(spec), f"{spec.short_name}.py")


def operators_of(module: IRModule) -> set[str]:
    roots = (function for _, function in module.relax_functions)
    parts = [part for root in roots for part in preorder(root)]
    absent = {"relax.null_value" for part in parts if isinstance(part, Null)}
    return absent | {part.op.name for part in parts if isinstance(part, Call) and isinstance(part.op, Op)}


def lowered(module: IRModule, passes: str | None = "Normalize, LegalizeOps") -> IRModule:
    return final_module(module, run_pipeline(module, passes))


def arguments(module: IRModule) -> tuple[Any, ...]:
    found = module.find("main")
    assert found is not None
    assert isinstance(found.function, Function)
    return generate(found.function, 0, {})


def run(module: IRModule) -> Any:
    return rc.VirtualMachine(rc.build(module))["main"](*arguments(module))


def assert_same(result: Any, expected: Any) -> None:
    if is_tuple(expected):
        assert len(result) == len(expected)
        for one, other in zip(result, expected, strict=True):
            assert_same(one, other)
        return
    if expected is None:
        assert result is None
        return
    tolerance = TOLERANCE.get(str(np.asarray(expected).dtype), 0)
    np.testing.assert_allclose(result, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("spec", OPS.values(), ids=lambda spec: spec.short_name)
def test_the_example_calls_the_operator_and_has_a_type(spec: OpSpec) -> None:
    module = module_of(spec)
    assert spec.name in operators_of(module)
    assert check(module) == ()


@pytest.mark.parametrize("spec", those("kernel"), ids=lambda spec: spec.short_name)
def test_a_kernel_is_made_and_computes_the_evaluation(spec: OpSpec) -> None:
    assert spec.legalize is not None
    assert spec.evaluate is not None
    module = module_of(spec)
    assert spec.name not in operators_of(lowered(module))
    assert_same(run(module), rc.evaluate(module, "main", *arguments(module)))


@pytest.mark.parametrize("spec", those("evaluation"), ids=lambda spec: spec.short_name)
def test_the_machine_evaluates_what_has_no_kernel(spec: OpSpec) -> None:
    assert spec.legalize is None
    assert spec.evaluate is not None
    assert spec.reason.endswith(".")
    module = module_of(spec)
    assert spec.name in operators_of(lowered(module))
    assert_same(run(module), rc.evaluate(module, "main", *arguments(module)))


@pytest.mark.parametrize("spec", those("lowering"), ids=lambda spec: spec.short_name)
def test_what_is_lowered_runs_as_bytecode(spec: OpSpec) -> None:
    assert spec.reason.endswith(".")
    module = module_of(spec)
    executable = rc.build(module)
    assert not any(entry.kind == "operator" and entry.name == spec.name for entry in executable.functions)
    result = rc.VirtualMachine(executable)["main"](*arguments(module))
    if spec.evaluate is not None:
        assert_same(result, rc.evaluate(module, "main", *arguments(module)))


@pytest.mark.parametrize("spec", those("shown"), ids=lambda spec: spec.short_name)
def test_what_is_shown_is_printed_and_read_back(spec: OpSpec) -> None:
    assert spec.legalize is None
    assert not spec.is_complete
    assert spec.reason.endswith(".")
    module = module_of(spec)
    assert rc.structural_equal(rc.parse(rc.script(module)), module)


def test_enough_operators_run() -> None:
    assert sum(spec.is_complete for spec in OPS.values()) >= 220


def test_every_line_of_the_table_of_examples_is_for_an_operator() -> None:
    assert {f"relax.{name}" for name in EXAMPLES} <= set(OPS)


@pytest.mark.parametrize("name", ["nn.conv2d", "unique", "call_tir", "nn.attention"])
def test_the_kernels_of_an_example_are_shown(name: str) -> None:
    tir, llvm = example_tir(name), example_llvm(name)
    assert ("@T.prim_func" in tir) == (name != "unique")
    assert ("define" in llvm) == (name != "unique")


def test_an_unknown_operator_has_no_example() -> None:
    with pytest.raises(KeyError):
        example_tir("no_such_operator")
