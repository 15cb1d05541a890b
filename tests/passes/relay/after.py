"""Running passes on Relay texts and comparing with the text that is expected."""

from dataclasses import dataclass
from typing import Any

import numpy as np

import relax_core as rc
from relax_core.ir.equality import first_difference
from relax_core.ir.expr import Call, Expr, Function, GlobalVar, Op, TensorType, Var
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import postorder
from relax_core.ir.prim import IntImm
from relax_core.ir.relay import Let
from relax_core.passes.core import Stage
from tests.passes.relay.running import agree, parsed

VECTOR = TensorType((IntImm(3),), "float32")


@dataclass(frozen=True, slots=True)
class Case:
    """A program before and after a pipeline; without `after` nothing changes."""

    name: str
    before: str
    after: str | None = None
    passes: str = ""
    remarks: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.name


def sound(stage: Stage) -> IRModule:
    """Return what a stage gives, which has no errors and reads back as itself."""
    assert [item.render() for item in stage.diagnostics] == []
    assert [item.render() for item in rc.check(stage.after) if item.severity == "error"] == []
    text = rc.script(stage.after, dialect="relay")
    assert first_difference(rc.parse(text, "again.relay"), stage.after) is None, text
    return stage.after


def last(module: IRModule, passes: str) -> Stage:
    """Return the last stage of a pipeline, all of whose stages are sound."""
    stages = rc.run_pipeline(module, passes)
    for stage in stages:
        sound(stage)
    return stages[-1]


def check_case(case: Case, passes: str) -> None:
    """See that a pipeline makes of a program what is expected, and a second time the same."""
    module = parsed(case.before)
    stage = last(module, case.passes or passes)
    wanted = parsed(case.after) if case.after is not None else module
    difference = first_difference(stage.after, wanted)
    assert difference is None, f"{difference}\n{rc.script(stage.after, dialect='relay')}"
    messages = [remark.message for remark in stage.remarks]
    for words in case.remarks:
        assert any(words in message for message in messages), messages
    assert (stage.after is module) == (case.after is None) or len(case.passes.split(",")) > 1


def same_value(module: IRModule, passes: str, *args: Any) -> IRModule:
    """See that a pipeline keeps what `main` gives for `args`, and return what it makes."""
    wanted = rc.evaluate(module, "main", *args)
    after = last(module, passes).after
    agree(rc.evaluate(after, "main", *args), wanted)
    return after


def chain(length: int, *, is_let: bool) -> IRModule:
    """Return a program whose result is `length` operators away from its parameter."""
    x = Var("x", VECTOR)
    if not is_let:
        expr: Expr = x
        for _ in range(length):
            expr = Call(Op("negative"), (expr,))
    else:
        names = [x, *(Var(f"v{k}") for k in range(length))]
        expr = names[-1]
        for k in reversed(range(length)):
            expr = Let(names[k + 1], Call(Op("negative"), (names[k],)), expr)
    function = Function((x,), expr, VECTOR)
    return IRModule((Definition(GlobalVar("main"), function),), attrs=(("dialect", "relay"),))


def operators(module: IRModule, name: str = "main") -> list[str]:
    """Return the names of the operators that a function calls, sorted."""
    return sorted(
        node.op.name for node in postorder(module[name]) if isinstance(node, Call) and isinstance(node.op, Op)
    )


ONES = np.array([1.0, -2.0, 3.0], "float32")
