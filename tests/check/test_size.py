"""Types stay small in programs that would build endless ones."""

import pytest

from relax_core.check.check import check
from relax_core.check.infer import infer
from relax_core.ir.expr import BindingBlock, Expr, Function, GlobalVar, SeqExpr, TensorType, Tuple, Var, VarBinding
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.prim import const
from relax_core.ops.show import show_type

FLOAT = TensorType((const(3),), "float32")


def tuples(count: int, width: int) -> IRModule:
    """Each variable is a tuple of the one before."""
    x = Var("x", FLOAT)
    last: Var = x
    bindings: list[VarBinding] = []
    for k in range(count):
        bindings.append(VarBinding(Var(f"t{k}"), Tuple((last,) * width)))
        last = bindings[-1].var
    body = SeqExpr((BindingBlock(tuple(bindings)),), last)
    return IRModule((Definition(GlobalVar("main"), Function((x,), body)),))


def functions(count: int) -> IRModule:
    """Each function returns the one before."""
    made: list[Definition] = []
    value: Expr = Tuple()
    for k in range(count):
        made.append(Definition(GlobalVar(f"f{k}"), Function((), value)))
        value = made[-1].var
    return IRModule(tuple(made), attrs=(("dialect", "relax"),))


@pytest.mark.parametrize(
    "module",
    [tuples(3000, 1), tuples(200, 2), tuples(1, 10_000), functions(1500)],
    ids=["deep tuples", "doubled tuples", "a wide tuple", "functions that return functions"],
)
def test_a_type_has_a_bounded_text(module: IRModule) -> None:
    assert check(module) == ()
    types = infer(module).types
    assert max(len(show_type(types[item.var])) for item in module) < 400_000


def test_a_flat_tuple_keeps_its_fields() -> None:
    types = infer(tuples(1, 10_000)).types
    (found,) = (type_ for node, type_ in types.items() if isinstance(node, Var) and node.name == "t0")
    assert show_type(found).count("R.Tensor") == 10_000
