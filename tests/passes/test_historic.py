"""Pipelines as reported: the passes that had a bug get the option that has it, and nothing else changes."""

import dataclasses

import pytest

import relax_core as rc
from relax_core.passes.historic import AS_REPORTED, as_reported
from relax_core.passes.pipeline import pass_
from relax_core.passes.relay.byoc import annotate_target
from relax_core.passes.relay.memory import plan_devices

CLOSURE = """
from tvm.script import ir as I, relax as R

@I.ir_module
class Module:
    @R.function(pure=False)
    def main() -> R.Tuple:
        @R.function
        def closure() -> R.Tensor((), "int32"):
            return R.const(1, "int32")
        y = R.print(closure, format="")
        return y
"""


@pytest.mark.parametrize(
    ("pipeline", "expected"),
    [
        ("", ""),
        ("LambdaLift", "LambdaLift(names='2022')"),
        ("LambdaLift()", "LambdaLift(names='2022')"),
        ("Normalize,\n  relax.LambdaLift , Normalize", "Normalize,\n  relax.LambdaLift(names='2022') , Normalize"),
        ("LambdaLift(names='tvm')", "LambdaLift(names='tvm')"),
        ("AnnotateTarget(targets=['é', 'b']), PlanDevices", None),
        ("LambdaLift(", "LambdaLift("),
        ("LambdaLift, LambdaLift", "LambdaLift(names='2022'), LambdaLift(names='2022')"),
        ("LambdaLifter(names=1)", "LambdaLifter(names=1)"),
    ],
)
def test_an_option_is_added_where_none_is_given(pipeline: str, expected: str | None) -> None:
    if expected is None:
        expected = "AnnotateTarget(lets='reported', targets=['é', 'b']), PlanDevices(as_in='reported')"
    assert as_reported(pipeline) == expected


@pytest.mark.parametrize("name", AS_REPORTED)
def test_every_option_is_one_of_its_pass_and_not_its_default(name: str) -> None:
    option, _, value = AS_REPORTED[name].partition("=")
    step = pass_(name, **{option: value.strip("'")})
    assert step == f"{name}({AS_REPORTED[name]})"
    for module in (plan_devices.PASS, annotate_target.PASS):
        if module.name == name:
            default = {item.name: item.default for item in dataclasses.fields(module.options)}
            assert default[option] != value.strip("'")


def test_a_run_fails_as_reported_and_returns_as_mended() -> None:
    module = rc.parse(CLOSURE)
    with pytest.raises(rc.CompileError) as caught:
        rc.run(module, as_in="reported")
    assert [item.code for item in caught.value.diagnostics] == ["BC001"]
    assert caught.value.diagnostics[0].span is not None
    assert rc.run(module).output == ("<closure>",)
    with pytest.raises(rc.CompileError):
        rc.build(module, passes="Normalize, LambdaLift", as_in="reported")
    assert rc.run(module, passes="Normalize, LambdaLift").output == ("<closure>",)
