"""An ill-formed module that a pass left is shown, with its errors at the nodes of its graph and in its text."""

from collections.abc import Generator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import relax_core as rc
from relax_core.check.check import check
from relax_core.engine.programs.left_modules import faults_of
from relax_core.engine.protocol import CompareGraph, GraphOf, Inspect, PipelineOf, StageOf
from relax_core.engine.session import Session
from relax_core.frontend.parse import parse_text
from relax_core.ir.dialect import dialect_of
from relax_core.ir.expr import Call, Constant, Function, SeqExpr, Var, op_name
from relax_core.ir.module import IRModule
from relax_core.passes.core import PassContext
from relax_core.passes.own import OWN_PASSES
from relax_core.present.models import Graph, Inspector
from relax_core.printer.relay_text.module import print_relay
from relax_core.printer.tvmscript import print_module
from tests.engine.asking import ask
from tests.engine.programs import SAMPLES, SMALL, program


def widens(module: IRModule, ctx: PassContext) -> IRModule:
    """Give each sum an operand of a size that does not fit."""

    def wide(node: Any) -> Any:
        is_sum = isinstance(node, Call) and op_name(node) == "relax.add"
        return replace(node, args=(node.args[0], Constant(np.ones((7, 7), np.float32)))) if is_sum else None

    return ctx.rewrite(module, wide)


def forgets(module: IRModule, ctx: PassContext) -> IRModule:
    """Return a variable that nothing binds."""
    return module.map_functions(lambda function: with_body(function, body=Var("nobody")))


def repeats(module: IRModule, ctx: PassContext) -> IRModule:
    """Bind every variable twice."""

    def twice(function: Function) -> Function:
        assert isinstance(function.body, SeqExpr)
        return with_body(function, blocks=function.body.blocks * 2)

    return module.map_functions(twice)


def digs(module: IRModule) -> IRModule:
    """Leave a hole, which no text can show."""
    return module.map_functions(lambda function: with_body(function, blocks=(None,)))


def with_body(function: Function, **changes: Any) -> Function:
    assert isinstance(function.body, SeqExpr)
    return replace(function, body=replace(function.body, **changes))


@pytest.fixture(autouse=True)
def own_passes() -> Generator[None]:
    """Register the passes, for the time of a test."""
    made = (widens, forgets, repeats, digs)
    for item in made:
        rc.register_pass(item)
    yield
    OWN_PASSES.drop(tuple(item.__name__ for item in made))


def faults_in(graph: Graph) -> list[tuple[str, str]]:
    return [(node.title, node.fault.partition(":")[0]) for node in graph.nodes if node.fault]


@pytest.mark.parametrize(
    ("name", "faults"),
    [
        ("widens", [("add", "TY010")]),
        ("forgets", [("return nobody", "WF002")]),
        ("repeats", [("add", "WF001")]),
    ],
)
def test_the_culprit_is_drawn_with_the_faulty_nodes(session: Session, name: str, faults: list[tuple[str, str]]) -> None:
    that = program(SMALL, pipeline=f"Normalize, {name}, LegalizeOps")
    listed = ask(session, PipelineOf(that))
    assert listed.stages[-1].name == name
    assert listed.stages[-1].is_failed
    number = len(listed.stages) - 1
    for graph in (ask(session, GraphOf(that, number, "main")), ask(session, CompareGraph(that, number))):
        assert faults_in(graph) == faults
        faulty = next(node for node in graph.nodes if node.fault)
        assert isinstance(ask(session, Inspect(that, faulty.node)), Inspector)


def test_its_text_is_set_beside_the_one_before(session: Session) -> None:
    that = program(SMALL, pipeline="forgets")
    view = ask(session, StageOf(that, 1))
    assert "return nobody" in view.after.text
    assert view.diff.after_title == "Ill-formed after · forgets"
    assert "`nobody` is not defined (WF002" in view.detail.summary


def test_a_module_that_no_text_can_show_is_not_shown(session: Session) -> None:
    that = program(SMALL, pipeline="digs")
    view = ask(session, StageOf(that, 1))
    assert "cannot be checked" in view.detail.summary
    assert "R.add" in view.after.text
    assert ask(session, CompareGraph(that, 1)).empty_title == "No change"


@pytest.mark.parametrize("path", sorted((SAMPLES / "errors").iterdir()), ids=lambda path: path.name)
def test_the_copy_with_places_has_the_errors_of_the_module(path: Any) -> None:
    for module in parse_text(path.read_text(encoding="utf-8"), path.name).modules:
        wanted = {item.code for item in check(module) if item.severity == "error"}
        printed = print_relay(module) if dialect_of(module) == "relay" else print_module(module)
        assert {item.code for item in faults_of(module, printed, "left").errors} == wanted
