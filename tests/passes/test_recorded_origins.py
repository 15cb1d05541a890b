"""What passes record of what they make, where several nodes might be said to be its origin."""

from collections.abc import Iterable

from relax_core.frontend.parse import parse_text
from relax_core.ir.expr import Call, ExternFunc, Function, SeqExpr, Var, VarBinding
from relax_core.ir.node import Node, preorder
from relax_core.passes.core import Stage
from relax_core.passes.pipeline import run_pipeline

CHAIN = "def @main(%x: Tensor[(4), float32], %y: Tensor[(4), float32]) { %0 = add(%x, %y); exp(%0) }"
CLAUSES = """
type nat { Z, S(nat), }

def @is_even(%n: nat[]) -> bool {
  let %other = True;
  match? (%n) {
    Z => %other,
    S(%less) => @is_even(%less),
  }
}
"""
NAMES = """
from tvm.script import ir as I
from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        a = R.exp(x)
        b = a
        pair = (x, b)
        c = pair[1]
        d = R.add(c, b)
        return d
"""


def stage_of(text: str, pipeline: str) -> Stage:
    """Return the last stage of a pipeline."""
    name = "m.relay" if "def @" in text else "m.py"
    modules = parse_text(text, name).modules
    return run_pipeline(modules[0], pipeline)[-1]


def origins(stage: Stage, *nodes: Node) -> set[str]:
    """Return the texts before the pass that nodes stem from."""
    before = set(preorder(stage.before))
    found = (item for item in stage.log.ancestry_of(nodes) if item in before and item.span is not None)
    return {item.span.text for item in found if item.span is not None}


def names(vars_: Iterable[Node]) -> list[str]:
    return [item.name for item in vars_ if isinstance(item, Var)]


def test_what_a_relay_function_of_fused_operators_stems_from() -> None:
    stage = stage_of(CHAIN, "FuseOps")
    fused = next(item for item in preorder(stage.after) if isinstance(item, Function) and names(item.params)[0] == "p0")
    call = next(item for item in preorder(stage.after) if isinstance(item, Call) and item.op is fused)
    for node in (fused, call):
        assert {"add(%x, %y)", "exp(%0)"} <= origins(stage, node)
    x, y = (origins(stage, param) for param in fused.params)
    assert x != y
    assert not any("exp" in text or "add" in text for text in x | y)


def test_what_a_body_converted_from_relay_returns_is_its_origin() -> None:
    stage = stage_of(CLAUSES, "RelayToRelax")
    bodies = [item for item in preorder(stage.after["is_even"]) if isinstance(item, SeqExpr)]
    # The last clause of a complete match is taken without a test; here there is what is done if none fits.
    assert all("let %other" not in text for item in bodies for text in origins(stage, item))
    assert any("@is_even(%less)" in origins(stage, item) for item in bodies)


def test_what_a_variable_of_a_pattern_becomes_stems_from_it() -> None:
    stage = stage_of(CLAUSES, "RelayToRelax")
    takes = next(
        item
        for item in preorder(stage.after["is_even"])
        if isinstance(item, VarBinding) and item.var.name == "less" and isinstance(item.value, Call)
    )
    assert isinstance(takes.value, Call)
    assert isinstance(takes.value.args[0], ExternFunc)
    assert "%less" in origins(stage, takes)
    assert not any(text.startswith("match") for text in origins(stage, takes))


def test_what_is_left_of_several_names_stems_from_all() -> None:
    stage = stage_of(NAMES, "CanonicalizeBindings")
    kept = next(item for item in preorder(stage.after["main"]) if isinstance(item, VarBinding) and item.var.name == "a")
    assert {"b = a", "c = pair[1]"} <= origins(stage, kept, kept.var)


def test_what_a_pass_takes_as_it_is_stems_from_nothing() -> None:
    stages = run_pipeline(parse_text(NAMES, "m.py").modules[0], "LegalizeOps, CallTIRRewrite, LowerAllocTensor")
    for stage in stages:
        given = set(preorder(stage.before))
        assert not [item for item in preorder(stage.after) if item in given and stage.log.origins_of(item)]
