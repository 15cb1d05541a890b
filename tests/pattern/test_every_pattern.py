"""Every pattern on every module ends with a result or a diagnostic, and the result is sound."""

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import relax_core as rc
from relax_core.ir.expr import Call, Expr, Function, Op
from relax_core.ir.module import IRModule
from relax_core.pattern.language.nodes import Pattern
from relax_core.pattern.matching.matcher import Match
from relax_core.pattern.partition.tables import read_tables
from tests.passes.relay.running import agree
from tests.passes.relay.test_generated_programs import modules
from tests.pattern.programs import main, module
from tests.pattern_strategies import patterns, patterns_of
from tests.relay_strategies import relay_modules

BYOC = "MergeComposite, AnnotateTarget, MergeCompilerRegions, PartitionGraph"
SCOPES = ("RY030", "RY031")


def errors(mod: IRModule) -> Counter[str]:
    return Counter(item.code for item in rc.check(mod) if item.severity == "error")


def results(pattern: Pattern, mod: IRModule) -> list[IRModule]:
    """Return what each use of a pattern makes of a module; one that ends in a diagnostic makes nothing."""
    uses: tuple[Callable[[], IRModule], ...] = (
        lambda: rc.partition(pattern, mod),
        lambda: rc.rewrite(pattern, lambda match: match.root, mod, once=True),
        lambda: rc.rewrite(pattern, lambda match: match.root, mod),
        lambda: (rc.match(pattern, mod), rc.explain(pattern, main_body(mod), mod), mod)[-1],
    )
    found: list[IRModule] = []
    for use in uses:
        with suppress(rc.CompileError):
            found.append(use())
    return found


def main_body(mod: IRModule) -> Expr:
    function = mod.definitions[0].function
    assert isinstance(function, Function)
    return function.body


@settings(max_examples=60, deadline=None)
@given(st.data(), modules(), st.lists(st.integers(-4, 4), min_size=6, max_size=6))
def test_a_typed_module_keeps_its_value(data: st.DataObject, mod: IRModule, numbers: list[int]) -> None:
    pattern = data.draw(st.one_of(patterns_of(mod), patterns_of(mod), patterns()))
    args = (np.array(numbers[:3], "int32"), np.array(numbers[3:], "int32"))
    wanted = rc.evaluate(mod, "main", *args)
    tables = rc.Tables((("a.p", pattern), ("b.q", pattern)), {"a": ("add", "negative"), "b": ("abs", "copy")})
    stages = rc.run_pipeline(mod, BYOC, tables=tables)
    assert all(item.message for stage in stages for item in stage.remarks)
    made = [*results(pattern, mod), *(stage.after for stage in stages)]
    for after in made:
        assert [item.render() for item in rc.check(after) if item.severity == "error"] == []
        if after is not mod:
            agree(rc.evaluate(after, "main", *args), wanted)


@settings(max_examples=60, deadline=None)
@given(st.data(), relay_modules())
def test_any_module_keeps_its_scopes(data: st.DataObject, mod: IRModule) -> None:
    pattern = data.draw(st.one_of(patterns_of(mod), patterns()))
    before = errors(mod)
    for after in results(pattern, mod):
        now = errors(after)
        assert all(now[code] <= before[code] for code in SCOPES), rc.script(after)


@settings(max_examples=40, deadline=None)
@given(patterns())
def test_a_pattern_goes_through_the_text_of_a_table(pattern: Pattern) -> None:
    text = rc.Tables((("a.p", pattern),), {"a": ("add",)}).to_json()
    assert read_tables(text).to_json() == text
    rc.run_pipeline(module("let %a = nn.relu(%x); add(%a, tanh(%y))"), BYOC, tables=read_tables(text))


ANYTHING = (
    "is_var()",
    "is_constant()",
    "wildcard()",
    "wildcard().has_dtype('float32')",
    "wildcard().has_shape((4, 4))",
    "is_function(None, wildcard())",
    "is_global('main')",
    "is_number(1.0)",
    "w = wildcard()\nw.redirect_to(w)\nw",
    "dominates(wildcard(), wildcard(), wildcard())",
)
PROGRAM = "let %f0 = fn (%p: Tensor[(4, 4), float32]) { tanh(%p) }; %0 = add(%f0(%x), 1f); (%0, nn.relu(%y)).0"


@pytest.mark.parametrize("text", ANYTHING)
def test_what_holds_no_computation_is_not_partitioned(text: str) -> None:
    mod = module(PROGRAM)
    pattern = rc.pattern(text)
    assert rc.partition(pattern, mod) is mod
    (stage,) = rc.run_pipeline(mod, "MergeComposite", tables=rc.Tables((("a.p", pattern),)))
    assert stage.after is mod
    said = [item.message for item in stage.remarks]
    assert "is_global" in text or "redirect" in text or any("no call, tuple or other" in item for item in said), said


def test_each_use_of_a_variable_is_replaced_once_and_its_binder_stays() -> None:
    mod = module("let %a = add(%x, %x); add(%a, %y)")
    after = rc.rewrite(rc.is_var("x"), lambda match: Call(Op("tanh"), (match.root,)), mod, once=True)
    assert rc.structural_equal(after, module("%0 = tanh(%x); let %a = add(%0, %0); add(%a, %y)"))
    after = rc.rewrite(rc.is_var("a"), lambda match: Call(Op("tanh"), (match.root,)), mod, once=True)
    assert rc.structural_equal(after, module("let %a = add(%x, %x); add(tanh(%a), %y)"))


def test_a_literal_and_what_has_a_type_are_replaced() -> None:
    mod = module("add(%x, 1f)")
    after = rc.rewrite(rc.is_constant(), lambda _: rc.pattern("is_number(2.0)").expr, mod, once=True)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownLambdaType]
    assert rc.structural_equal(after, module("add(%x, 2f)"))
    pattern = rc.wildcard().has_shape((4, 4))
    typed = rc.rewrite(pattern, lambda match: Call(Op("abs"), (match.root,)), mod, once=True)
    assert rc.structural_equal(typed, module("abs(add(abs(%x), 1f))"))


WRONG: tuple[tuple[Callable[[Match], Any], str], ...] = (
    (lambda match: Call(Op("tanh"), (match.root,)), "PT009"),
    (lambda match: 3, "PT008"),
    (lambda match: match.root if isinstance(match.root, Function) else Call(Op("tanh"), (match.root,)), "PT004"),
)


@pytest.mark.parametrize(("callback", "code"), WRONG, ids=["no function", "no expression", "without end"])
def test_a_callback_that_makes_no_module_is_told(callback: Callable[[Match], Any], code: str) -> None:
    with pytest.raises(rc.CompileError) as caught:
        rc.rewrite(rc.wildcard(), callback, module("nn.relu(%x)"))
    assert [item.code for item in caught.value.diagnostics] == [code]


REFS = "let %r = ref(%x);"
KEPT = (
    (
        "effects keep their order",
        "add(wildcard(), nn_relu(wildcard()))",
        f"{REFS} add(nn.relu(ref_read(%r)), (let %_ = ref_write(%r, %y); ref_read(%r)))",
        "another order",
    ),
    (
        "one input with an effect",
        "nn_relu(wildcard())",
        f"{REFS} nn.relu((let %_ = ref_write(%r, %y); ref_read(%r)))",
        None,
    ),
    (
        "a call in a branch is not made always",
        "is_if(wildcard(), nn_relu(wildcard()), wildcard())",
        "let %g = fn (%p: Tensor[(4, 4), float32]) -> Tensor[(4, 4), float32] "
        "{ if (less(sum(%p), 0f)) { nn.relu(%g(%p)) } else { %p } }; %g(%x)",
        "computed always",
    ),
    (
        "operators in a branch are",
        "is_if(wildcard(), nn_relu(wildcard()), wildcard())",
        "if (%c) { nn.relu(tanh(%x)) } else { %y }",
        None,
    ),
    (
        "a function literal that captures",
        "wildcard()(wildcard())",
        "let %a = maximum(%x, %x); (fn (%p: Tensor[(4, 4), float32]) { add(%p, %a) })(%y)",
        "bound outside",
    ),
    (
        "a function of two calls is not copied",
        "is_function(None, add(wildcard(), wildcard()))(wildcard())",
        "%0 = tanh(%x); %1 = fn (%p: Tensor[(4, 4), float32]) { add(%p, %0) }; multiply(%1(%x), %1(%y))",
        "bound outside",
    ),
    ("a variable that is named", "add(is_var('a'), wildcard())", "let %a = tanh(%x); add(%a, %y)", None),
)


@pytest.mark.parametrize(("text", "body", "words"), [case[1:] for case in KEPT], ids=[case[0] for case in KEPT])
def test_a_cut_keeps_the_value(text: str, body: str, words: str | None) -> None:
    pattern = rc.pattern(f"add = is_op('add')\nnn_relu = is_op('nn.relu')\n{text}")
    params = "%x: Tensor[(4, 4), float32], %y: Tensor[(4, 4), float32], %c: bool"
    mod = rc.parse(f'#[version = "0.0.5"]\ndef @main({params}) {{\n{body}\n}}\n', "m.relay")
    (stage,) = rc.run_pipeline(mod, "MergeComposite", tables=rc.Tables((("a.p", pattern),)))
    said = [item.message for item in stage.remarks]
    assert [item.render() for item in rc.check(stage.after) if item.severity == "error"] == []
    assert stage.is_changed == (words is None), rc.script(stage.after)
    assert words is None or any(words in item for item in said), said
    x, y = np.full((4, 4), 2, "float32"), np.full((4, 4), 3, "float32")
    for flag in (True, False):
        agree(rc.evaluate(stage.after, "main", x, y, flag), rc.evaluate(mod, "main", x, y, flag))


def test_a_named_expression_of_python_is_a_parameter() -> None:
    mod = module("let %a = tanh(%x); add(%a, %y)")
    let = main(mod).body
    made = rc.partition(rc.is_op("add")(rc.is_expr(let.var), rc.wildcard()), mod)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownArgumentType]
    assert "FunctionVar_0_1" in rc.script(made)
    assert [item.render() for item in rc.check(made)] == []
