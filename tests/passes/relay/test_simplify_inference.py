"""SimplifyInference, CanonicalizeOps: operators become the arithmetic that they stand for."""

import numpy as np
import pytest

import relax_core as rc
from relax_core.passes.pipeline import RELAY_PIPELINE
from tests.passes.relay.after import last, operators
from tests.passes.relay.running import agree, parsed

RNG = np.random.default_rng(0)
DATA = RNG.standard_normal((2, 4, 3, 5)).astype("float32")
NCHW, NHWC = "%x: Tensor[(2, 4, 3, 5), float32]", "%x: Tensor[(2, 3, 5, 4), float32]"
CHANNELS = ", ".join(f"%{name}: Tensor[(4), float32]" for name in "gbmv")
# name, layout, body, the operator that goes, the operators that stay
CASES = (
    ("batch_norm", NCHW, "nn.batch_norm(%x, %g, %b, %m, %v).0", "nn.batch_norm"),
    ("batch_norm on the last axis", NHWC, "nn.batch_norm(%x, %g, %b, %m, %v, axis=3).0", "nn.batch_norm"),
    ("batch_norm on a negative axis", NHWC, "nn.batch_norm(%x, %g, %b, %m, %v, axis=-1).0", "nn.batch_norm"),
    ("batch_norm without scale", NCHW, "nn.batch_norm(%x, %g, %b, %m, %v, scale=False).0", "nn.batch_norm"),
    ("batch_norm without shift", NCHW, "nn.batch_norm(%x, %g, %b, %m, %v, center=False).0", "nn.batch_norm"),
    ("batch_norm with its epsilon", NCHW, "nn.batch_norm(%x, %g, %b, %m, %v, epsilon=0.5f).0", "nn.batch_norm"),
    ("dropout", NCHW, "nn.dropout(%x, rate=0.5f).0", "nn.dropout"),
    ("dropout of a sum", NCHW, "exp(nn.dropout(add(%x, 1f)).0)", "nn.dropout"),
    ("layer_norm", NHWC, "nn.layer_norm(%x, %g, %b)", "nn.layer_norm"),
    ("layer_norm on another axis", NCHW, "nn.layer_norm(%x, %g, %b, axis=1)", "nn.layer_norm"),
    ("instance_norm", NCHW, "nn.instance_norm(%x, %g, %b)", "nn.instance_norm"),
    ("instance_norm on the last axis", NHWC, "nn.instance_norm(%x, %g, %b, axis=3)", "nn.instance_norm"),
    ("group_norm", NCHW, "nn.group_norm(%x, %g, %b, num_groups=2)", "nn.group_norm"),
    ("l2_normalize", NCHW, "nn.l2_normalize(%x, eps=0.1f, axis=[1])", "nn.l2_normalize"),
    ("two in a row", NCHW, "nn.instance_norm(nn.batch_norm(%x, %g, %b, %m, %v).0, %g, %b)", "nn.batch_norm"),
    ("bias_add", NCHW, "nn.bias_add(%x, %g)", "nn.bias_add"),
    ("bias_add on the last axis", NHWC, "nn.bias_add(%x, %g, axis=-1)", "nn.bias_add"),
)  # fmt: skip


@pytest.mark.parametrize(("layout", "body", "gone"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_an_operator_is_unpacked(layout: str, body: str, gone: str) -> None:
    module = parsed(f"def @main({layout}, {CHANNELS}) {{ {body} }}")
    stage = last(module, "CanonicalizeOps" if "bias_add" in gone else "SimplifyInference")
    assert gone not in operators(stage.after)
    assert any(gone in remark.message for remark in stage.remarks if remark.kind == "applied")
    data = DATA if layout == NCHW else np.ascontiguousarray(np.moveaxis(DATA, 1, -1))
    args = (data, *(np.abs(RNG.standard_normal(4)).astype("float32") for _ in "gbmv"))
    agree(rc.evaluate(stage.after, "main", *args), rc.evaluate(module, "main", *args))


def test_the_arithmetic_leads_back_to_the_call_that_it_was() -> None:
    text = f"""def @main({NCHW}, {CHANNELS}) {{
  %0 = nn.batch_norm(%x, %g, %b, %m, %v);
  %1 = %0.0;
  nn.relu(%1)
}}"""
    executable = rc.build(rc.parse(text, name="m.relay"), passes=f"SimplifyInference, FuseOps, {RELAY_PIPELINE}")
    spans = (executable.span_of(at) for at in range(len(executable.instructions)))
    assert {span.line for span in spans if span is not None} == {1, 2, 4}


@pytest.mark.parametrize(
    ("params", "body"),
    [
        (f"{NCHW}, {CHANNELS}", "nn.batch_norm(%x, %g, %b, %m, %v).1"),
        (f"{NCHW}, {CHANNELS}", "nn.batch_norm(%x, %g, %b, %m, %v)"),
        (f"%x: Tensor[(?, 4, 3), float32], {CHANNELS}", "nn.group_norm(%x, %g, %b, num_groups=2)"),
    ],
    ids=["another result", "all results", "an unknown size"],
)
def test_what_inference_cannot_unpack_stays(params: str, body: str) -> None:
    assert not last(parsed(f"def @main({params}) {{ {body} }}"), "SimplifyInference").is_changed
