"""Calls that no text gives but a pass could make: of an unknown operator, and with too few or many arguments."""

import pytest

from relax_core.check.check import check
from relax_core.ir.expr import Call, Function, GlobalVar, Op, SeqExpr, TensorType, Var
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.prim import const
from relax_core.ir.rewriting.builder import normalize
from relax_core.ir.rewriting.rewrite import RewriteLog

X = Var("x", TensorType((const(3),), "float32"))
WRONG = (
    ("relax.no_such_operator", (X,), "TY030"),
    ("relax.add", (X,), "TY002"),
    ("relax.add", (X, X, X), "TY002"),
)


@pytest.mark.parametrize(("name", "args", "code"), WRONG)
def test_a_call_that_does_not_fit_the_table_is_reported(name: str, args: tuple[Var, ...], code: str) -> None:
    function = Function((X,), SeqExpr((), Call(Op(name), args)))
    module = normalize(IRModule((Definition(GlobalVar("main"), function),)), RewriteLog())
    assert [item.code for item in check(module)] == [code]
