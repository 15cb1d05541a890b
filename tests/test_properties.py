"""Properties that hold for every program: printing and reading, passes, origins, inference, stepping."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from relax_core.bytecode.build import build
from relax_core.check.check import check
from relax_core.check.infer import infer
from relax_core.diagnostics import has_errors
from relax_core.frontend.parse import parse_text
from relax_core.ir.equality import first_difference
from relax_core.ir.expr import Call, Function, TensorType
from relax_core.ir.node import preorder
from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.passes.pipeline import run_pipeline
from relax_core.printer.tvmscript import Spelling, print_module
from relax_core.vm.debugger import step_back, step_in
from relax_core.vm.machine import Machine
from relax_core.vm.virtual_machine import VirtualMachine
from tests.strategies import Program, inputs, programs

SLOW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.parametrize("spelling", ["2022", "2023", "2026"])
@SLOW
@given(program=programs())
def test_what_is_printed_reads_back_equal(program: Program, spelling: Spelling) -> None:
    text = print_module(program.module, spelling=spelling).text
    parsed = parse_text(text, "printed.py")
    assert not has_errors(parsed.diagnostics), text
    assert first_difference(program.module, parsed.modules[0], strict=True) is None, text


@SLOW
@given(program=programs())
def test_generated_programs_are_well_formed(program: Program) -> None:
    assert not has_errors(check(program.module))


@SLOW
@given(program=programs())
def test_every_pass_keeps_the_program_well_formed_and_every_call_an_origin(program: Program) -> None:
    parsed = parse_text(print_module(program.module).text, "printed.py")
    stages = run_pipeline(parsed.modules[0], None)
    for stage in stages:
        assert stage.diagnostics == ()
        merged = RewriteLog.merged([item.log for item in stages[: stage.index + 1]])
        for _, function in stage.after.relax_functions:
            calls = [node for node in preorder(function) if isinstance(node, Call)]
            assert all(merged.locate(call) is not None for call in calls), stage.pass_name


@SLOW
@given(program=programs(), passes=st.sampled_from(["Normalize, LambdaLift", "LambdaLift(names='2022')", ""]))
def test_the_value_does_not_depend_on_the_passes(program: Program, passes: str) -> None:
    x, y = inputs(program.shape)
    plain = VirtualMachine(build(program.module))["main"](x, y)
    stages = run_pipeline(program.module, passes) if passes else ()
    after = stages[-1].after if stages else program.module
    np.testing.assert_array_equal(VirtualMachine(build(after))["main"](x, y), plain)


@SLOW
@given(program=programs(is_symbolic=False))
def test_the_inferred_type_is_the_type_of_the_value(program: Program) -> None:
    main = program.module["main"]
    assert isinstance(main, Function)
    inferred = infer(program.module).types[main.body]
    value = VirtualMachine(build(program.module))["main"](*inputs(program.shape))
    assert isinstance(inferred, TensorType)
    assert inferred.dtype == str(value.dtype)
    assert inferred.ndim == value.ndim


@SLOW
@given(program=programs())
def test_stepping_back_undoes_stepping_in(program: Program) -> None:
    trace = Machine(build(program.module)).run("main", inputs(program.shape))
    at = 0
    while (following := step_in(trace, at)) != at:
        assert step_back(trace, following) == at
        at = following
