"""Annotations written by hand: PartitionGraph leaves the module closed and of the same value, or says why not."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import relax_core as rc
from relax_core.ir.expr import Function
from relax_core.ir.module import IRModule
from relax_core.pattern.partition.offload import Unit, offload_graph
from tests.passes.relay.byoc import T, annotated_anywhere, begins, program, tables
from tests.passes.relay.running import agree

A = tables(a="add nn.relu")
PASSES = ("PartitionGraph", "MergeCompilerRegions, PartitionGraph")
CLOSED = (
    ("an input without a begin", "e:a⟦add(b:a⟦%x⟧, %y)⟧"),
    ("an end around a variable", "e:a⟦%x⟧"),
    ("an end of an end", "let %a = e:a⟦e:a⟦nn.relu(b:a⟦%x⟧)⟧⟧; %a"),
    ("an end of an end of a variable", "let %w = add(%x, b:a⟦%x⟧); let %v = e:a⟦e:a⟦%w⟧⟧; %v"),
    ("an end without a begin", "add(e:a⟦nn.relu(%x)⟧, %y)"),
    ("an end used at once", "add(e:a⟦nn.relu(b:a⟦%x⟧)⟧, e:a⟦add(e:a⟦nn.relu(b:a⟦%y⟧)⟧, b:a⟦%x⟧)⟧)"),
    ("a begin with a use outside", "%0 = b:a⟦%x⟧; let %a = e:a⟦nn.relu(%0)⟧; let %b = %0; add(%a, %b)"),
    ("a conditional as an input", "e:a⟦add(b:a⟦%x⟧, if (%c) { %x } else { tanh(%y) })⟧"),
    ("a let as an input", "e:a⟦add(b:a⟦%x⟧, (let %v = tanh(%y); add(%v, %v)))⟧"),
    ("a function in a region", f"let %a = tanh(%y); e:a⟦(fn (%p: {T}) {{ add(%p, %a) }})(b:a⟦%x⟧)⟧"),
    ("a region in a function in a region", f"e:a⟦(fn (%p: {T}) {{ e:b⟦add(b:b⟦%p⟧, %y)⟧ }})(b:a⟦%x⟧)⟧"),
    ("two ends of one value", "%0 = nn.relu(b:a⟦%x⟧); add(e:a⟦%0⟧, e:a⟦%0⟧)"),
    ("a tuple of a region", "e:a⟦(nn.relu(b:a⟦%x⟧), %y)⟧.1"),
)
TOLD = (
    ("a begin without an end", "nn.relu(b:a⟦%x⟧)", "BY004"),
    ("the body of a let", "let %a = b:cc⟦nn.relu(%x)⟧; %a", "BY004"),
    ("a value that comes back", "%0 = b:a⟦%x⟧; %1 = nn.relu(%0); e:a⟦add(%1, tanh(e:a⟦%1⟧))⟧", "BY003"),
    (
        "a region out of a branch",
        "%0 = nn.relu(b:a⟦%y⟧); "
        "let %k = if (%c) { let %v = tanh(%x); e:a⟦add(%0, b:a⟦%v⟧)⟧ } else { %x }; add(%k, e:a⟦%0⟧)",
        "BY005",
    ),
)


def errors(module: IRModule) -> list[str]:
    return [item.render() for item in rc.check(module) if item.severity == "error"]


def inputs() -> tuple[object, ...]:
    rng = np.random.default_rng(0)
    return tuple(rng.standard_normal((4, 4)).astype("float32") for _ in range(2))


@pytest.mark.parametrize("passes", PASSES)
@pytest.mark.parametrize("text", [case[1] for case in CLOSED], ids=[case[0] for case in CLOSED])
def test_the_module_stays_closed(text: str, passes: str) -> None:
    module = program(begins(text))
    stage = rc.run_pipeline(module, passes, tables=A)[-1]
    assert [item.render() for item in stage.diagnostics] == []
    assert errors(stage.after) == [], rc.script(stage.after)
    for flag in (True, False):
        agree(rc.evaluate(stage.after, "main", *inputs(), flag), rc.evaluate(module, "main", *inputs(), flag))


@pytest.mark.parametrize(("text", "code"), [case[1:] for case in TOLD], ids=[case[0] for case in TOLD])
def test_what_cannot_stay_closed_is_told_at_the_annotation(text: str, code: str) -> None:
    stage = rc.run_pipeline(program(begins(text)), "PartitionGraph", tables=A)[-1]
    assert {item.code for item in stage.diagnostics} == {code}
    assert all(item.span is not None for item in stage.diagnostics)
    assert stage.is_failed == (code != "BY004")
    assert stage.is_failed or any("RY030" in item for item in errors(stage.after))


def test_each_begin_of_a_let_that_never_ends_is_told() -> None:
    given = tables(cc="nn.relu tanh")
    passes = "AnnotateTarget(lets='reported'), MergeCompilerRegions, PartitionGraph"
    stage = rc.run_pipeline(program("let %a = nn.relu(%x); let %b = tanh(%a); %b"), passes, tables=given)[-1]
    assert [item.code for item in stage.diagnostics] == ["BY004", "BY004"]
    assert "%cc_1_i0" in stage.diagnostics[0].message


@settings(max_examples=80, deadline=None)
@given(st.randoms(use_true_random=False), st.sampled_from((*PASSES, "AnnotateTarget, PartitionGraph")))
def test_any_annotated_text_stays_closed_or_is_told(rng: random.Random, passes: str) -> None:
    module = annotated_anywhere(rng)
    if errors(module):
        return
    stage = rc.run_pipeline(module, passes, tables=A)[-1]
    if not stage.diagnostics:
        assert errors(stage.after) == [], rc.script(module)
        for flag in (True, False):
            agree(rc.evaluate(stage.after, "main", *inputs(), flag), rc.evaluate(module, "main", *inputs(), flag))


def test_two_regions_that_hold_no_call_are_kept_apart_by_no_let() -> None:
    first, second = (Unit(number, "a", f"a_{number}", [], None) for number in (0, 4))
    module = program("%x")
    (graph,) = (offload_graph(module, item.function) for item in module if isinstance(item.function, Function))
    assert graph.lets_over(first, second, ()) == ()
