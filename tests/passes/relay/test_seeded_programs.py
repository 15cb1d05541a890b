"""Seeded random programs mean the same in the interpreter, in every normal form, and on every tier of the machine."""

from typing import Any

import numpy as np
import pytest

import relax_core as rc
from relax_core.bytecode.executable import Executable
from relax_core.ir.equality import structural_equal
from relax_core.ir.module import IRModule
from tests.passes.relay.program_texts import program_text
from tests.passes.relay.running import agree
from tests.vm.tiers import differences

FORMS = (
    "ToANormalForm", "ToBasicBlockNormalForm", "ToGraphNormalForm", "EtaExpand(expand_global_var=True)", "InferType",
    "LambdaLift", "Inline", "DeadCodeElimination", "EliminateCommonSubexpr", "FoldConstant", "SimplifyInference",
    "Defunctionalization", "FuseOps", "PlanDevices",
)  # fmt: skip
SEEDS = range(1000, 1024)


def arguments() -> tuple[Any, ...]:
    return np.array(3, "int32"), np.array([1, -2, 3], "int32")


def sound(module: IRModule) -> IRModule:
    """Return a module that has no errors."""
    assert [item.message for item in rc.check(module) if item.severity == "error"] == []
    return module


def built(module: IRModule) -> Executable:
    """Return a program for the machine, whose operators have no kernels."""
    stage = rc.run_pipeline(module, "RelayToRelax")[-1]
    assert [item.message for item in stage.diagnostics] == []
    return rc.build(sound(stage.after), passes="LambdaLift")


def form(module: IRModule, passes: str) -> IRModule:
    """Return what a pass gives, which has no errors and reads back as itself."""
    stage = rc.run_pipeline(module, passes)[-1]
    assert [item.message for item in stage.diagnostics if item.severity == "error"] == []
    text = rc.script(sound(stage.after), dialect="relay")
    assert structural_equal(rc.parse(text, "again.relay"), stage.after), text
    return stage.after


@pytest.mark.parametrize("seed", SEEDS)
def test_every_form_gives_what_the_interpreter_does(seed: int) -> None:
    module = sound(rc.parse(program_text(seed), "seeded.relay"))
    wanted = rc.evaluate(module, "main", *arguments())
    # Each program goes through three of the forms, and all of them come round.
    for passes in (FORMS[(seed + shift) % len(FORMS)] for shift in (0, 5, 10)):
        after = form(module, passes)
        agree(rc.evaluate(after, "main", *arguments()), wanted)
    agree(rc.VirtualMachine(built(module))["main"](*arguments()), wanted)


@pytest.mark.parametrize("seed", SEEDS[::4])
def test_the_tiers_of_the_machine_agree(seed: int) -> None:
    executable = built(sound(rc.parse(program_text(seed), "seeded.relay")))
    assert differences(executable, "main", arguments) == ()


@pytest.mark.parametrize("seed", SEEDS[::12])
@pytest.mark.parametrize("passes", ["", "Defunctionalization", "LambdaLift"])
def test_kernels_compute_it_too(seed: int, passes: str) -> None:
    module = sound(rc.parse(program_text(seed), "seeded.relay"))
    after = form(module, passes) if passes else module
    agree(rc.VirtualMachine(rc.build(after))["main"](*arguments()), rc.evaluate(module, "main", *arguments()))
