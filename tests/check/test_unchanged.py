"""Typing what a pass made, with what is known of the module before, gives what typing it alone gives."""

from dataclasses import replace
from pathlib import Path

import pytest

import relax_core as rc
from relax_core.check.check import check
from relax_core.check.infer import Inferencer
from relax_core.diagnostics import has_errors
from relax_core.ir.dialect import dialect_of
from relax_core.ir.equality import same_type
from relax_core.ir.expr import TensorType, VarBinding
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, preorder
from relax_core.ir.rewriting.rewrite import RewriteLog, rewrite
from relax_core.ops.show import show_type
from relax_core.passes.pipeline import run_pipeline
from tests.passes.programs import parse

SAMPLES = sorted((Path(__file__).parents[2] / "samples" / "relax").glob("*.py"))


def assert_same_types(module: IRModule, before: IRModule) -> None:
    knowing = Inferencer()
    knowing.infer(before)
    known, alone = knowing.infer(module, (before,)), Inferencer().infer(module)
    assert [item.code for item in known.diagnostics] == [item.code for item in alone.diagnostics]
    assert known.types.keys() == alone.types.keys()
    assert not [node for node, type_ in alone.types.items() if not same_type(known.types[node], type_)]


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_every_stage_has_the_types_that_it_has_alone(path: Path) -> None:
    for module in rc.parse_all(path.read_text(encoding="utf-8"), path.name).values():
        if dialect_of(module) != "relax" or has_errors(check(module)):
            continue
        for stage in run_pipeline(module):
            assert_same_types(stage.after, stage.before)


CHAIN = """
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        a = R.exp(x)
        b = R.negative(a)
        return b
"""
LONGER = """
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        a = R.concat((x, x))
        return a
"""


def test_a_call_whose_argument_has_another_type_is_typed_anew() -> None:
    before, other = parse(CHAIN), parse(LONGER)
    (longer,) = (node for node in preorder(other) if isinstance(node, VarBinding))
    first, second = (node for node in preorder(before) if isinstance(node, VarBinding))

    def exchange(node: Node) -> Node | None:
        return replace(first, value=longer.value) if node is first else None

    after = rewrite(before, exchange, log=RewriteLog())
    assert any(node is second.value for node in preorder(after))
    knowing = Inferencer()
    was = knowing.infer(before).types[second.value]
    now = knowing.infer(after, (before,)).types[second.value]
    assert isinstance(was, TensorType)
    assert isinstance(now, TensorType)
    assert (show_type(was), show_type(now)) == (
        'R.Tensor((4,), dtype="float32")',
        'R.Tensor((8,), dtype="float32")',
    )
