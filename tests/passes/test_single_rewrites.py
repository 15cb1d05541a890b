"""Single rewrites of a pass: so many of them, all but one, and what cannot be made on its own."""

from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest

import relax_core as rc
from relax_core import after_rewrites, without_rewrite
from relax_core.check.check import check
from relax_core.diagnostics import CompileError, has_errors
from relax_core.ir.equality import structural_equal
from relax_core.ir.expr import Call, GlobalVar, Op, op_name
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node
from relax_core.passes.core import PassContext, Stage
from relax_core.passes.pipeline import run_pipeline
from relax_core.passes.single_rewrites import single_rewrites

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
SOURCE = """@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        with R.dataflow():
            a = R.add(x, x)
            b = R.nn.relu(a)
            c = R.add(b, x)
            d = R.add(c, c)
            R.output(d)
        return d
"""
X = np.arange(6, dtype=np.float32).reshape(2, 3) - 2


N = TypeVar("N", bound=Node)


def subtracted(module: IRModule, ctx: PassContext) -> IRModule:
    """Replace each sum by a difference."""
    return subtracted_in(module, ctx)


def subtracted_in(root: N, ctx: PassContext) -> N:
    def minus(node: Node) -> Node | None:
        """Rule: add -> subtract."""
        return (
            replace(node, op=Op("relax.subtract")) if isinstance(node, Call) and op_name(node) == "relax.add" else None
        )

    return ctx.rewrite(root, minus)


def stage_of(passes: object, text: str = SOURCE) -> Stage:
    (*_, stage) = run_pipeline(rc.parse(text), passes)  # pyright: ignore[reportArgumentType]
    assert not stage.is_failed, stage.diagnostics
    return stage


def operators(module: IRModule) -> list[str]:
    return [word for line in rc.script(module).splitlines() for word in ("add", "subtract") if f"R.{word}(" in line]


def test_after_each_rewrite_one_more_is_made() -> None:
    stage = stage_of(["Normalize", subtracted])
    assert [number for number, _ in single_rewrites(stage)] == [1, 2, 3]
    shown = [operators(after_rewrites(stage, count).after) for count in range(4)]
    assert shown == [
        ["add", "add", "add"],
        ["subtract", "add", "add"],
        ["subtract", "subtract", "add"],
        ["subtract", "subtract", "subtract"],
    ]
    assert after_rewrites(stage, 0).after is stage.before
    assert structural_equal(after_rewrites(stage, 3).after, stage.after)


def test_all_but_one_are_made() -> None:
    stage = stage_of(["Normalize", subtracted])
    assert operators(without_rewrite(stage, 2).after) == ["subtract", "add", "subtract"]
    assert len(without_rewrite(stage, 2).log.replacements) == 2


@pytest.mark.parametrize("number", [0, 4, -1])
def test_a_number_that_is_none_is_refused(number: int) -> None:
    stage = stage_of(["Normalize", subtracted])
    with pytest.raises(CompileError, match=f"PS020.*has no rewrite {number}: it made 3"):
        without_rewrite(stage, number)


def test_what_a_pass_makes_in_a_way_of_its_own_is_not_taken_apart() -> None:
    stage = stage_of("Normalize, LegalizeOps, AnnotateTIROpPattern")
    assert stage.log.replacements
    assert single_rewrites(stage) == ()
    with pytest.raises(CompileError, match=r"PS020.*is no application of a rule"):
        after_rewrites(stage, 1)


def test_rewrites_of_relay_are_single_too() -> None:
    text = """#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3), float32], %b: Tensor[(3), float32]) {
  %0 = nn.bias_add(%x, %b);
  nn.bias_add(%0, %b)
}
"""
    (stage,) = run_pipeline(rc.parse(text), "CanonicalizeOps")
    shown = [rc.script(after_rewrites(stage, count).after).count("nn.bias_add") for count in range(3)]
    assert shown == [2, 1, 0]
    assert rc.script(without_rewrite(stage, 1).after).count("nn.bias_add") == 1


def test_a_pass_that_insists_ends_with_a_diagnostic() -> None:
    text = (SAMPLES / "relax" / "callback.py").read_text(encoding="utf-8")
    stage = stage_of("Normalize, LambdaLift", text)
    (number, *_) = [number for number, item in single_rewrites(stage) if item.rule.startswith("local function")]
    found = without_rewrite(stage, number)
    assert found.is_failed
    assert found.diagnostics[0].code == "PS020"
    assert "the pass goes on until this is made" in found.diagnostics[0].message


def test_a_node_that_many_functions_share_is_asked_for_in_each() -> None:
    module = rc.parse(SOURCE)
    (main,) = module.definitions
    copies = (replace(main, var=GlobalVar(f"f{at}"), function=replace(main.function)) for at in range(30))
    module = module.with_definitions(*copies)

    def each(module: IRModule, ctx: PassContext) -> IRModule:
        """Rewrite function by function."""
        functions = (replace(item, function=subtracted_in(item.function, ctx)) for item in module.definitions)
        return replace(module, definitions=tuple(functions))

    (stage,) = run_pipeline(module, [each])
    assert len(single_rewrites(stage)) == 3 * 31
    made = after_rewrites(stage, 0)
    assert not made.is_failed, made.diagnostics
    assert "subtract" not in rc.script(made.after)


def test_an_ill_formed_part_is_kept_as_rejected() -> None:
    text = (SAMPLES / "relax" / "callback.py").read_text(encoding="utf-8")
    stage = stage_of("Normalize, LambdaLift, LegalizeOps, ToNonDataflow, CallTIRRewrite, KillAfterLastUse", text)
    found = [without_rewrite(stage, number) for number, _ in single_rewrites(stage)]
    (ill, *_) = [item for item in found if item.is_failed]
    assert ill.after is stage.before
    assert ill.rejected is not None
    assert has_errors(check(ill.rejected))
    assert ill.diagnostics[0].message.startswith("a part of KillAfterLastUse left a module that is ill-formed")


@pytest.mark.parametrize("sample", ["relax/mlp.py", "seeds/print_closure2_2026.py", "relax/symbolic_shapes.py"])
def test_the_last_rewrite_leads_to_what_the_pass_made(sample: str) -> None:
    stages = run_pipeline(rc.parse((SAMPLES / sample).read_text(encoding="utf-8")))
    counted = 0
    for stage in stages:
        found = single_rewrites(stage)
        if found:
            counted += 1
            assert structural_equal(after_rewrites(stage, found[-1][0]).after, stage.after), stage.pass_name
            assert single_rewrites(after_rewrites(stage, 0)) == ()
    assert counted >= 3


def test_each_prefix_of_the_rewrites_of_a_lowering_computes_the_same() -> None:
    stage = stage_of("Normalize, LegalizeOps")
    expected = rc.run(stage.before, X).value
    for number, _ in single_rewrites(stage):
        for made in (after_rewrites(stage, number), without_rewrite(stage, number)):
            assert not made.is_failed
            np.testing.assert_array_equal(rc.run(made.after, X).value, expected)
