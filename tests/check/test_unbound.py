"""Values that are not there: the first cause is told with both places, and nothing runs without them."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

import relax_core as rc
from relax_core.ir.absent import reference_of
from relax_core.ir.expr import (
    BindingBlock,
    Call,
    Constant,
    Function,
    GlobalVar,
    If,
    Op,
    SeqExpr,
    TensorType,
    Var,
    VarBinding,
)
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node, postorder
from relax_core.ir.rewriting.rewrite import RewriteLog, rewrite

HEAD = """
@I.ir_module{checked}
class Module:
    @R.function(pure=False)
    def main(c: R.Tensor((), "bool"), x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
"""
STORAGE = 'R.memory.alloc_storage(R.shape([16]), 0, R.str("global"), R.dtype("float32"))'
TENSOR = 'R.memory.alloc_tensor(storage, 0, R.shape([4]), R.dtype("float32"), 0)'
SHARED = f"""        if c:
            storage: R.Any = {STORAGE}
            r: R.Tensor((4,), "float32") = {TENSOR}
        else:
            storage: R.Any
            r: R.Tensor((4,), "float32") = {TENSOR}
        return r
"""
INNER = """        if c:
            a = R.add(x, x)
            r = R.add(a, x)
        else:
            r = x
        a: R.Tensor((4,), "float32")
        return R.add(r, a)
"""
LATER = """        y: R.Tensor((4,), "float32")
        z = R.add(y, x)
        y: R.Tensor((4,), "float32") = R.add(x, x)
        return R.add(y, z)
"""
NOWHERE = """        y: R.Tensor((4,), "float32")
        return R.add(y, x)
"""
DATA = """        return R.add(x, metadata["relax.expr.Constant"][3])
"""


def _made_tensor(tensor: Constant, node: Node) -> Node | None:
    """Rule: a scalar constant -> `tensor`."""
    return tensor if isinstance(node, Constant) and node.data.ndim == 0 else None


def module(body: str, checked: str = "") -> IRModule:
    return rc.parse(HEAD.format(checked=checked) + body)


@pytest.mark.parametrize(
    ("body", "words", "places"),
    [
        (SHARED, "only the other branch of the `if` in line 6 binds it", ("        else:", "storage: R.Any =")),
        (INNER, "only a branch of the `if` in line 6 binds it", ("return R.add(r, a)", "a = R.add(x, x)")),
        (LATER, "it is bound further on", ("z = R.add(y, x)", 'y: R.Tensor((4,), "float32") = ')),
        (NOWHERE, "`y` has no value here", ("return R.add(y, x)", 'y: R.Tensor((4,), "float32")')),
    ],
    ids=["in the other branch", "in a branch", "further on", "nowhere"],
)
def test_a_variable_without_a_value_is_an_error_with_both_places(
    body: str, words: str, places: tuple[str, str]
) -> None:
    made = module(body)
    (error,) = (item for item in rc.check(made) if item.severity == "error")
    assert error.code == "WF024"
    assert words in error.message
    assert error.span is not None
    text = error.span.source.text
    assert error.span.start > text.index(places[0])
    ((_, second),) = error.related
    assert second.start == text.index(places[1], second.start)
    again = rc.parse(rc.script(made))
    assert rc.structural_equal(made, again)
    assert [item.code for item in rc.check(again) if item.severity == "error"] == ["WF024"]


@pytest.mark.parametrize("checked", ["", "(check_well_formed=False)"])
@pytest.mark.parametrize(("body", "code"), [(SHARED, "WF024"), (DATA, "WF025")])
def test_nothing_runs_without_its_values(body: str, code: str, checked: str) -> None:
    made = module(body, checked)
    consumers: tuple[Callable[[IRModule], object], ...] = (
        rc.build,
        lambda item: rc.run_pipeline(item, "LegalizeOps"),
    )
    for go in consumers:
        with pytest.raises(rc.CompileError) as caught:
            go(made)
        assert code in {item.code for item in caught.value.diagnostics}


def test_a_declaration_that_nothing_uses_is_only_warned_of() -> None:
    made = module('        y: R.Tensor((4,), "float32")\n        return x\n')
    assert [(item.code, item.severity) for item in rc.check(made)] == [("PA034", "warning")]


def test_data_that_the_text_lacks_is_a_reference_again_in_print() -> None:
    made = module(DATA)
    assert 'R.add(x, metadata["relax.expr.Constant"][3])' in rc.script(made)
    assert rc.structural_equal(made, rc.parse(rc.script(made)))
    assert [(item.code, item.severity) for item in rc.check(made)] == [("WF025", "error")]


def test_a_relay_constant_without_data_stays_without_data_in_print() -> None:
    text = "def @main(%x: Tensor[(2), float32]) { add(%x, meta[relay.Constant][5] /* ty=Tensor[(2), float32] */) }"
    made = rc.parse(text, "m.relay")
    again = rc.parse(rc.script(made), "m.relay")
    for item in (made, again):
        assert [found.code for found in rc.check(item) if found.severity == "error"] == ["WF025"]
        with pytest.raises(rc.CompileError):
            rc.evaluate(item, "main", np.ones(2, np.float32))


def test_a_printed_section_keeps_constants_with_data_apart_from_those_without() -> None:
    made = rc.parse("def @main() { (meta[relay.Constant][0] /* ty=Tensor[(2), float32] */, 1f) }", "m.relay")
    tensor = Constant(np.ones(3, np.float32))
    made = rewrite(made, partial(_made_tensor, tensor), log=RewriteLog())
    text = rc.script(made)
    assert "meta[relay.Constant][0] /* ty" in text
    again = rc.parse(text, "m.relay")
    first, second = (node for node in postorder(again) if isinstance(node, Constant))
    assert (reference_of(first), reference_of(second)) == ("meta[relay.Constant][0]", None)
    assert second.data.tolist() == [1, 1, 1]


def test_a_module_that_a_pass_left_unbound_names_both_places() -> None:
    condition, x = Var("c", TensorType((), "bool")), Var("x", TensorType(None, "float32"))
    hidden = Var("hidden")
    bound = BindingBlock((VarBinding(hidden, Call(Op("relax.exp"), (x,))),))
    body = If(condition, SeqExpr((bound,), hidden), SeqExpr((), hidden))
    made = IRModule((Definition(GlobalVar("main"), Function((condition, x), SeqExpr((), body))),))
    (error,) = (item for item in rc.check(made) if item.severity == "error")
    assert (error.code, "only the other branch of the `if` binds it" in error.message) == ("WF002", True)


def test_reading_keeps_its_warnings_beside_the_module() -> None:
    made = module("        return x\n        y = R.exp(x)\n")
    assert [(item.code, item.severity) for item in rc.check(made)] == [("PA011", "warning")]
