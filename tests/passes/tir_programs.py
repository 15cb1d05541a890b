"""Prim funcs that are run through passes on TIR and schedules, each with a Relax function that calls it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import relax_core as rc
from relax_core.ir.equality import first_difference
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node
from relax_core.ir.rewriting.rewrite import RewriteLog, rewrite
from relax_core.ir.tir import Block
from relax_core.passes.core import Stage
from tests.apache_tvm import s_tir, tirx
from tests.passes.wheel import in_tvm, passed, same_values

MAIN = """
    @R.function
    def main(x: R.Tensor(({rows}, {columns}), "float32")) -> R.Tensor({result}, "float32"):
        cls = Module
        y = R.call_tir(cls.f, (x,), out_ty=R.Tensor({result}, "float32"))
        return y
"""
HEAD = """
    @T.prim_func(private=True, s_tir=True)
    def f(A: T.Buffer(({rows}, {columns}), "float32"), C: T.Buffer({result}, "float32")):
"""


def program(body: str, result: str = "(6, 20)", rows: int = 6, columns: int = 20) -> str:
    """Return a module of `f`, which reads the matrix A and writes C, and of `main`, which calls it."""
    lines = "\n".join(f"        {line}" for line in body.strip("\n").splitlines())
    given = {"rows": rows, "columns": columns, "result": result}
    return HEAD.format(**given) + lines + "\n" + MAIN.format(**given)


def theirs(name: str) -> Any:
    """Return a pass of apache-tvm by its name."""
    return getattr(s_tir.transform, name, None) or getattr(tirx.transform, name)


def agree_on(text: str, names: str) -> Stage:
    """Run passes of both on a text, compare the modules after each, and the values; return our last stage."""
    module = in_tvm(text)
    start = ours = rc.parse(module.script())
    stage = None
    for name in names.split(", "):
        module = theirs(name)()(module)
        stage = passed(ours, name)
        expected = rc.parse(module.script())
        assert first_difference(stage.after, expected) is None, f"{name}\n{rc.script(stage.after)}\n{module.script()}"
        same_values(start, stage.after, rtol=0)
        ours = stage.after
    assert stage is not None
    return stage


def scheduled(text: str, passes: str, steps: Callable[[Any], None], rtol: float = 0) -> IRModule:
    """Run a schedule of ours and one of apache-tvm on a text, and compare the modules and the values."""
    module = in_tvm(text)
    schedule = s_tir.Schedule(module)
    schedule.work_on("f")
    steps(schedule)
    start = rc.parse(module.script())
    stage = passed(start, passes)
    expected = rc.parse(schedule.mod.script())
    assert first_difference(_unsaid(stage.after), _unsaid(expected)) is None, (
        f"{rc.script(stage.after)}\n{schedule.mod.script()}"
    )
    same_values(start, stage.after, rtol=rtol)
    return stage.after


def _unsaid(module: IRModule) -> IRModule:
    """Leave out what blocks say that they read: a primitive that changes it leaves it to be inferred."""

    def forget(node: Node) -> Node | None:
        return replace(node, reads=None) if isinstance(node, Block) else None

    return rewrite(module, forget, log=RewriteLog())
