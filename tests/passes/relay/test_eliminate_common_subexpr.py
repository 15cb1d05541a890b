"""EliminateCommonSubexpr: the same operator on the same values is computed once."""

import pytest

from relax_core.ir.expr import Call
from relax_core.ir.module import IRModule
from relax_core.ir.node import postorder
from tests.passes.relay.after import last, operators
from tests.passes.relay.running import parsed

T = "Tensor[(1, 16), float32]"
# name, body, number of calls before and after
CASES = (
    ("two equal calls", "%0 = nn.relu(%x); %1 = add(%0, 1f); %2 = add(%0, 1f); add(%1, %2)", 4, 3),
    ("calls of equal calls", "add(exp(nn.relu(%x)), exp(nn.relu(%x)))", 5, 3),
    ("other scalars", "add(add(%x, 1f), add(%x, 2f))", 3, 3),
    ("scalars of other dtypes", "(cast(1f, dtype=\"int32\"), cast(1, dtype=\"int32\"))", 2, 2),
    ("other attributes", "(sum(%x, axis=[0]), sum(%x, axis=[1]))", 2, 2),
    ("the same attributes in another order",
     "(sum(%x, axis=[0], keepdims=True), sum(%x, keepdims=True, axis=[0]))", 2, 1),
    ("operands in another order", "add(subtract(%x, %y), subtract(%y, %x))", 3, 3),
    ("fields of one tuple", "%0 = split(%x, indices_or_sections=4, axis=1); add(exp(%0.0), exp(%0.0))", 4, 3),
    ("fields of equal splits",
     "add(split(%x, indices_or_sections=4, axis=1).0, split(%x, indices_or_sections=4, axis=1).0)", 3, 2),
    ("equal tuples as operands", "(concatenate((%x, %y), axis=1), concatenate((%x, %y), axis=1))", 2, 1),
    ("other tuples as operands", "(concatenate((%x, %y), axis=1), concatenate((%y, %x), axis=1))", 2, 2),
    ("both branches", "if (%c) { add(exp(%x), %y) } else { subtract(exp(%x), %y) }", 4, 4),
    ("before a branch and in it", "%0 = exp(%x); if (%c) { add(exp(%x), %0) } else { %0 }", 3, 2),
    ("in a function and outside of it",
     "let %f = fn (%z: Tensor[(1, 16), float32]) { add(%z, exp(%x)) }; add(%f(%y), exp(%x))", 5, 4),
    ("in two functions", "let %f = fn () { exp(%x) }; let %g = fn () { exp(%x) }; add(%f(), %g())", 5, 5),
    ("calls of functions", "let %f = fn () { exp(%x) }; add(%f(), %f())", 4, 4),
    ("reads of a reference", "let %r = ref(%x); add(ref_read(%r), ref_read(%r))", 1, 1),
)  # fmt: skip


def _calls(module: IRModule) -> int:
    return sum(isinstance(node, Call) for node in postorder(module["main"]))


@pytest.mark.parametrize(("body", "before", "after"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_equal_expressions_are_shared(body: str, before: int, after: int) -> None:
    module = parsed(f"def @main(%x: {T}, %y: {T}, %c: bool) {{ {body} }}")
    assert (_calls(module), _calls(last(module, "EliminateCommonSubexpr").after)) == (before, after)


def test_operators_may_be_left_out() -> None:
    body = "%0 = nn.relu(%x); add(add(add(%0, 1f), exp(%0)), add(add(%0, 1f), exp(%0)))"
    module = parsed(f"def @main(%x: {T}) {{ {body} }}")
    assert operators(last(module, "EliminateCommonSubexpr(fskip=['add'])").after) == [*["add"] * 5, "exp", "nn.relu"]
    assert operators(last(module, "EliminateCommonSubexpr").after) == [*["add"] * 3, "exp", "nn.relu"]


def test_a_branch_says_why_it_keeps_its_expression() -> None:
    module = parsed(f"def @main(%x: {T}, %c: bool) {{ if (%c) {{ exp(%x) }} else {{ exp(%x) }} }}")
    stage = last(module, "EliminateCommonSubexpr")
    assert [(item.kind, len(item.because)) for item in stage.remarks] == [("missed", 1)]
    assert not stage.is_changed
