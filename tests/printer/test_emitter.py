"""How texts are put together: parts nested deeply, marks around nodes, and ranges that are made when asked for."""

from collections.abc import Callable

import pytest

from relax_core.ir.expr import (
    Call,
    Expr,
    Function,
    GlobalVar,
    Op,
    SeqExpr,
    TensorType,
    Tuple,
    TupleGetItem,
    TupleType,
    Type,
    Var,
)
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node, postorder
from relax_core.ir.prim import Binary, IntImm, PrimExpr, PrimVar, Unary
from relax_core.ir.tir import Evaluate, For, IfThenElse, PrimFunc, Stmt
from relax_core.printer.emitter import MAX_DEPTH, Emitter, MarkingEmitter
from relax_core.printer.printed import Printed
from relax_core.printer.tvmscript import print_module

DEPTH = 20 * MAX_DEPTH
X = Var("x", TensorType(None, "float32"))
N = PrimVar("n", "int32")


def relax(body: Expr, annotation: Type | None = None) -> IRModule:
    params = (X,) if annotation is None else (X, Var("y", annotation))
    return IRModule((Definition(GlobalVar("main"), Function(params, SeqExpr((), body))),))


def tir(body: Stmt) -> IRModule:
    return IRModule((Definition(GlobalVar("main"), PrimFunc((N,), (), body)),))


def nested_calls() -> IRModule:
    value: Expr = X
    for _ in range(DEPTH):
        value = Call(Op("relax.exp"), (value,))
    return relax(value)


def nested_tuples() -> IRModule:
    value: Expr = X
    for _ in range(DEPTH):
        value = TupleGetItem(Tuple((value, X)), 0)
    return relax(value)


def nested_types() -> IRModule:
    type_: Type = TensorType(None, "float32")
    for _ in range(DEPTH):
        type_ = TupleType((type_,))
    return relax(X, type_)


def nested_sums() -> IRModule:
    value: PrimExpr = N
    for _ in range(DEPTH):
        value = Binary("+", N, Unary("-", value, "int32"), "int32")
    return tir(Evaluate(value))


def nested_loops() -> IRModule:
    body: Stmt = Evaluate(N)
    for _ in range(DEPTH // 4):
        body = For(PrimVar("i", "int32"), IntImm(1, "int32"), N, IfThenElse(N, body, None))
    return tir(body)


@pytest.mark.parametrize("make", [nested_calls, nested_tuples, nested_types, nested_sums, nested_loops])
def test_what_is_nested_deeply_is_shown_with_the_range_of_every_node(make: Callable[[], IRModule]) -> None:
    module = make()
    printed = print_module(module)
    assert not any(mark in printed.text for mark in "\1\2\3\4\5")
    starts = [item.start for item in printed.ranges]
    assert starts == sorted(starts)
    shown = {item.node for item in printed.ranges}
    assert all(node in shown for node in postorder(module) if isinstance(node, Call | Tuple | Binary | For))
    assert text_of(printed, module) == printed.text[printed.text.index("@I.") :].rstrip("\n")


def test_a_range_shows_its_node_at_any_depth() -> None:
    module = nested_calls()
    printed = print_module(module)
    calls = [item for item in printed.ranges if isinstance(item.node, Call)]
    for depth, item in enumerate(calls):
        assert printed.text[item.start : item.end] == "R.exp(" * (DEPTH - depth) + "x" + ")" * (DEPTH - depth)


def text_of(printed: Printed, node: Node) -> str:
    found = printed.range_of(node)
    assert found is not None
    return printed.text[found.start : found.end]


def test_ranges_are_made_once_and_only_when_asked_for() -> None:
    asked: list[bool] = []

    def find() -> tuple[()]:
        asked.append(True)
        return ()

    printed = Printed("text", find=find)
    assert asked == []
    assert printed.ranges == printed.ranges == ()
    assert asked == [True]


def test_marks_leave_the_text_as_it_is() -> None:
    emitter = MarkingEmitter()
    inner = emitter.mark(N, "c")
    text, ranges = emitter.unmarked("a " + emitter.mark(X, f"b{inner}") + " " + emitter.mark(X, "") + "d")
    assert text == "a bc d"
    assert [(item.start, item.end, item.node) for item in ranges] == [(2, 4, X), (3, 4, N), (5, 5, X)]


def test_a_part_beyond_the_depth_is_shown_later_in_its_place() -> None:
    emitter = Emitter()
    order: list[int] = []

    def show(depth: int) -> str:
        order.append(depth)
        return f"({emitter.nested(show, depth + 1)})" if depth < 3 * MAX_DEPTH else "."

    text = emitter.nested(show, 1)
    assert len(order) == MAX_DEPTH
    assert emitter.whole(text) == "(" * (3 * MAX_DEPTH - 1) + "." + ")" * (3 * MAX_DEPTH - 1)
