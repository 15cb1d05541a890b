"""TVM's pipelines have its passes in its order, and leave programs that compute the same."""

from typing import Any

import pytest

import relax_core as rc
from relax_core.passes.named_pipelines import PIPELINES
from relax_core.passes.pipeline import parse_pipeline
from tests.apache_tvm import relax, tvm
from tests.passes.programs import parse
from tests.passes.wheel import in_tvm, same_values

TEXT = """
    @R.function
    def main(x: R.Tensor(("n", 8), "float32"), w: R.Tensor((8, 4), "float32"), b: R.Tensor((4,), "float32")):
        n = T.int64()
        with R.dataflow():
            p = R.matmul(x, w)
            q = R.add(p, b)
            r = R.nn.relu(q)
            s = R.sort(r, axis=1)
            t = R.reshape(s, R.shape([n * 4]))
            u = R.cumsum(t, axis=0)
            R.output(u, r)
        return (u, r)
"""


@tvm.ir.instrument.pass_instrument
class Order:
    """The passes that a pipeline consists of, without those that they run themselves."""

    def __init__(self) -> None:
        self.open: list[str] = []
        self.names: list[str] = []

    def run_before_pass(self, _module: Any, info: Any) -> None:
        if [name for name in self.open if name not in ("_pipeline", "f_zero_pipeline", "sequential")] == []:
            self.names.append(info.name)
        self.open.append(info.name)

    def run_after_pass(self, _module: Any, _info: Any) -> None:
        self.open.pop()


def order(pipeline: Any) -> list[str]:
    seen = Order()
    with tvm.target.Target("llvm"), tvm.transform.PassContext(instruments=[seen]):
        pipeline(in_tvm(TEXT))
    return [name for name in seen.names if name not in ("_pipeline", "f_zero_pipeline", "sequential")]


@pytest.mark.parametrize("name", ["zero", "default_build", "default", "cpu_generic"])
def test_a_pipeline_has_the_passes_of_tvm_in_order(name: str) -> None:
    target = tvm.target.Target("llvm")
    theirs = relax.get_default_pipeline(target) if name == "cpu_generic" else relax.get_pipeline(name)
    assert [step.pass_.name for step in parse_pipeline(name)] == order(theirs)


@pytest.mark.parametrize("name", PIPELINES)
def test_a_pipeline_keeps_values(name: str) -> None:
    stages = rc.run_pipeline(parse(TEXT), name)
    assert [str(item) for stage in stages for item in stage.diagnostics] == []
    same_values(stages[0].before, stages[-1].after, rtol=1e-5)


def test_a_pipeline_stands_among_passes() -> None:
    names = [stage.pass_name for stage in rc.run_pipeline(parse(TEXT), "CanonicalizeBindings, zero, ToNonDataflow")]
    assert names[:2] + names[-2:] == ["CanonicalizeBindings", "LegalizeOps", "FuseTIR", "ToNonDataflow"]


def test_a_pipeline_of_relax_wants_relax() -> None:
    with pytest.raises(rc.CompileError) as error:
        parse_pipeline("zero", "relay")
    (said,) = error.value.diagnostics
    assert (said.code, said.hint) == ("PS010", "write RelayToRelax, zero")
    assert len(parse_pipeline("RelayToRelax, zero", "relay")) == 6


@pytest.mark.parametrize(
    ("name", "operators"), [("DispatchSampling", {"sort", "cumsum"}), ("DispatchSortScan", {"matmul", "add"})]
)
def test_a_dispatch_lowers_only_its_operators(name: str, operators: set[str]) -> None:
    text = rc.script(rc.run_pipeline(parse(TEXT), name)[-1].after)
    assert all(f"R.{item}(" in text for item in operators)
    assert ("R.sort(" in text) == (name == "DispatchSampling")


def test_the_earlier_name_of_a_pass_does_the_same() -> None:
    lowered = rc.run_pipeline(parse(TEXT), "default_build")
    before = next(stage.before for stage in lowered if stage.pass_name == "LowerRuntimeBuiltin")
    now, then = (rc.run_pipeline(before, name)[-1] for name in ("LowerRuntimeBuiltin", "VMBuiltinLower"))
    assert now.is_changed
    assert rc.structural_equal(now.after, then.after)
