"""What holds for every pass of Relax on programs that nobody wrote: the value stays, and a second run is idle."""

from collections.abc import Mapping
from typing import Final

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import relax_core as rc
from relax_core.check.check import check
from relax_core.ir.equality import first_difference
from relax_core.passes.library import PASSES
from relax_core.passes.pipeline import run_pipeline
from tests.passes.test_every_pass import GIVEN
from tests.strategies import Program, inputs, programs

pytestmark = pytest.mark.usefixtures("kept_kernels")

FORMS = (
    "",
    "ConvertToDataflow",
    "LambdaLift, ConvertToDataflow, LegalizeOps, AnnotateTIROpPattern",
    "LambdaLift, ConvertToDataflow, LegalizeOps, AnnotateTIROpPattern, FuseOps",
    "LambdaLift, ToNonDataflow, RemovePurityChecking, LegalizeOps, CallTIRRewrite",
)
"""What runs before the pass, so that it meets operators, prim funcs, fused functions, and memory."""
APART: Final[Mapping[str, str]] = {
    "Gradient": "takes a function of one dataflow block whose result is a number",
    "LazyGetInput": "changes what the function takes, each time that it runs, as in TVM",
    "LazySetOutput": "changes what the function takes, each time that it runs, as in TVM",
    "UpdateVDevice": "takes a module with virtual devices",
}
"""Passes that have tests of their own, and why these programs are not for them."""
LOOSE: Final[Mapping[str, float]] = {"ToMixedPrecision": 2e-2}
"""Passes that compute with fewer bits, and how far their results may be off."""
NAMES = sorted(name for dialect, name in PASSES if dialect in ("relax", "any") and name not in APART)
FEW = settings(
    max_examples=3, deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)


def test_passes_that_stand_apart_exist() -> None:
    assert APART.keys() <= {name for _, name in PASSES}


@pytest.mark.parametrize("name", NAMES)
@FEW
@given(drawn=programs())
def test_a_pass_keeps_the_value_of_a_program_and_has_no_more_to_do(name: str, drawn: Program) -> None:
    arguments = inputs(drawn.shape)
    expected = rc.VirtualMachine(rc.build(drawn.module))["main"](*arguments)
    pass_, least = GIVEN.get(name, name), LOOSE.get(name, 1e-5)
    ran = 0
    for form in FORMS:
        before = run_pipeline(drawn.module, form)[-1].after if form else drawn.module
        stage = run_pipeline(before, pass_)[-1]
        if stage.is_failed:
            assert stage.diagnostics[0].code == "PS003", stage.diagnostics
            continue
        known = {item.code for item in check(before)}
        new = [item for item in check(stage.after) if item.severity == "error" and item.code not in known]
        # Memory is written in functions that are declared pure, if RemovePurityChecking did not run.
        assert [str(item) for item in new if item.code not in ("WF004", "WF005")] == [], form
        again = run_pipeline(stage.after, pass_)[-1].after if not new else stage.after
        assert first_difference(stage.after, again) is None, form
        if not new:
            found = rc.VirtualMachine(rc.build(stage.after))["main"](*arguments)
            np.testing.assert_allclose(found, expected, rtol=least, atol=least, err_msg=form)
        ran += 1
    assert ran, f"{name} took no form of the program"
