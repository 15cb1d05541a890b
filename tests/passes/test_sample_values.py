"""What every pass of Relax makes of the samples computes what they compute."""

from copy import deepcopy
from typing import Any

import numpy as np
import pytest

import relax_core as rc
from relax_core.check.check import check
from relax_core.diagnostics import DiagnosedError
from relax_core.ir.dialect import dialect_of
from relax_core.ir.expr import Function, TensorType, TupleType, Type
from relax_core.ir.module import IRModule
from relax_core.passes.pipeline import run_pipeline
from tests.passes.test_every_pass import GIVEN, PURITY, sound_modules
from tests.passes.test_random_programs import LOOSE, NAMES
from tests.passes.wheel import flat, input_of

pytestmark = pytest.mark.usefixtures("kept_kernels")

Run = tuple[IRModule, tuple[Any, ...], list[Any]]
OTHERWISE = (
    # With the averages that batch_norm is given, not with those of its input.
    ("DecomposeOpsForInference", "prim/prim_batch_norm.py"),
    # The weights are one parameter behind it.
    ("BundleModelParams", "relax/virtual_devices.py"),
)
"""What a pass is there to change."""


def has_input(type_: Type | None) -> bool:
    """Tell whether `input_of` makes a value of a type that any program takes: tensors of known rank."""
    match type_:
        case TensorType(shape=tuple()):
            return True
        case TupleType(fields=fields):
            return all(map(has_input, fields))
        case _:
            return False


def result_of(module: IRModule, arguments: tuple[Any, ...]) -> list[Any]:
    machine = rc.VirtualMachine(rc.build(module), on_output=lambda _: None)
    return flat(machine["main"](*deepcopy(arguments)))


@pytest.fixture(scope="module")
def runs() -> dict[str, Run]:
    """The samples that compute tensors of tensors, with arguments and results."""
    found: dict[str, Run] = {}
    for name, module in sound_modules():
        main = module["main"] if "main" in module and dialect_of(module) == "relax" else None
        if not isinstance(main, Function) or not all(has_input(param.annotation) for param in main.params):
            continue
        arguments = tuple(input_of(param.annotation, seed) for seed, param in enumerate(main.params))
        try:
            result = result_of(module, arguments)
        except DiagnosedError:
            continue
        if all(isinstance(item, np.ndarray) for item in result):
            found[f"{name} {module.name}"] = module, arguments, result
    assert len(found) >= 70, "most samples of tensors run"
    return found


@pytest.mark.parametrize("name", NAMES)
def test_a_pass_keeps_the_values_of_the_samples(name: str, runs: dict[str, Run]) -> None:
    least = LOOSE.get(name, 1e-4)
    for sample, (module, arguments, expected) in runs.items():
        stage = run_pipeline(module, GIVEN.get(name, name))[-1]
        if stage.is_failed:
            assert stage.diagnostics[0].code == "PS003", (sample, stage.diagnostics)
            continue
        is_early = any(item.code in PURITY for item in check(stage.after) if item.severity == "error")
        if not stage.is_changed or is_early or (name, sample.split()[0]) in OTHERWISE:
            continue
        found = result_of(stage.after, arguments)
        assert len(found) == len(expected), sample
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=least, atol=least, err_msg=sample)
