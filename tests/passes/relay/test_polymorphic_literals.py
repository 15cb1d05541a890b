"""Local functions with type variables of their own, and types that only a declaration says, through the passes."""

import numpy as np
import pytest

from relax_core.ir.expr import Function
from relax_core.ir.node import postorder
from relax_core.ir.relay import Let
from tests.passes.relay.after import last, same_value
from tests.passes.relay.running import parsed

ONE = np.array(3, "int32")
CAPTURING = "def @main(%x: int32) { let %h = fn [T](%p: T) -> (T, int32) { (%p, %x) }; (%h(%x), %h(True)) }"
EMPTY = (
    "def @main(%x: int32) { let %l: Option[List[int32]] = None; let %y = add(%x, %x); "
    "let %n = match (%l) { Some(Cons(%h, _)) => %y, Some(Nil) => %x, None => %x, }; add(%n, %y) }"
)


@pytest.mark.parametrize("passes", ["InferType", "LambdaLift", "LambdaLift, InferType", "InferType, LambdaLift"])
def test_a_type_of_functions_binds_variables_of_its_own(passes: str) -> None:
    """Each stage reads back as itself: a variable that two things bind would be one in the module, two in the text."""
    same_value(parsed(CAPTURING), passes, ONE)


def test_a_let_whose_declaration_alone_says_a_type_stays() -> None:
    after = same_value(parsed(EMPTY), "ToGraphNormalForm", ONE)
    function = after["main"]
    assert isinstance(function, Function)
    assert [node.var.name for node in postorder(function) if isinstance(node, Let)] == ["l"]
    stage = last(parsed(EMPTY), "ToGraphNormalForm")
    assert [item.message for item in stage.remarks if item.kind == "missed"] == [
        "%l stays: it declares a type that nothing else may say"
    ]


def test_a_declared_let_goes_where_its_value_says_the_type() -> None:
    text = EMPTY.replace("= None;", "= Some(Cons(%x, Nil));")
    function = same_value(parsed(text), "ToGraphNormalForm", ONE)["main"]
    assert not any(isinstance(node, Let) for node in postorder(function))
