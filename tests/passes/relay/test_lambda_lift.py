"""LambdaLift: function literals become functions of the module."""

import numpy as np
import pytest

import relax_core as rc
from relax_core.ir.attrs import attr
from relax_core.ir.expr import Call, Function
from relax_core.ir.node import postorder
from tests.passes.relay.after import ONES, last, operators, same_value
from tests.passes.relay.running import parsed

V = "Tensor[(3), float32]"
LOOP = (
    "let %loop = fn (%k: int32, %acc: Tensor[(3), float32]) -> Tensor[(3), float32] "
    "{ if (equal(%k, 0)) { %acc } else { %loop(subtract(%k, 1), add(%acc, %step)) } }; "
)
# name, result of main, number of functions, of those that make closures
CASES = (
    ("no capture", f"let %f = fn (%y: {V}) {{ exp(%y) }}; %f(%x)", 2, 0),
    ("a literal that is called where it stands", f"fn (%y: {V}) {{ exp(%y) }}(%x)", 2, 0),
    ("a capture", f"let %f = fn (%y: {V}) {{ add(%y, %x) }}; %f(%x)", 2, 1),
    ("a value shared with the surroundings", f"%0 = exp(%x); let %f = fn (%y: {V}) {{ add(%y, %0) }}; %f(%0)", 2, 1),
    ("two equal functions",
     f"let %f = fn (%y: {V}) {{ add(%y, 1f) }}; let %g = fn (%z: {V}) {{ add(%z, 1f) }}; add(%f(%x), %g(%x))", 2, 0),
    ("equal functions of other values",
     f"let %f = fn (%y: {V}) {{ add(%y, %x) }}; let %z = exp(%x); "
     f"let %g = fn (%y: {V}) {{ add(%y, %z) }}; %f(%g(%x))", 2, 1),
    ("functions of other types",
     "let %f = fn (%y: int32) { %y }; let %g = fn (%y: float32) { %y }; "
     "add(%x, %g(cast(%f(1), dtype=\"float32\")))", 3, 0),
    ("a function in a function",
     f"let %f = fn (%y: {V}) {{ let %g = fn (%z: {V}) {{ add(%z, %y) }}; %g(%x) }}; %f(%x)", 3, 2),
    ("recursion", f"let %step = exp(%x); {LOOP}%loop(3, %x)", 2, 1),
    ("recursion without a capture", LOOP.replace("%step", "%acc") + "%loop(3, %x)", 2, 0),
    ("recursion from an inner function",
     f"let %f = fn (%k: int32) -> {V} {{ if (equal(%k, 0)) {{ %x }} else "
     f"{{ let %g = fn (%j: int32) -> {V} {{ add(%f(%j), %x) }}; %g(subtract(%k, 1)) }} }}; %f(4)", 3, 2),
    ("a function that returns one",
     f"let %f = fn (%y: {V}) {{ fn (%z: {V}) {{ subtract(%z, %y) }} }}; %f(%x)(exp(%x))", 3, 1),
    ("a function in a branch",
     f"let %f = if (less(sum(%x), 0f)) {{ fn (%y: {V}) {{ %x }} }} "
     f"else {{ fn (%y: {V}) {{ %y }} }}; %f(exp(%x))", 3, 1),
    ("a function in a tuple", f"let %t = (fn (%y: {V}) {{ exp(%y) }}, 1); %t.0(%x)", 2, 0),
    ("a reference",
     f"let %r = ref(%x); let %f = fn (%y: {V}) {{ ref_write(%r, %y) }}; let %_ = %f(exp(%x)); ref_read(%r)", 2, 1),
    ("a primitive function", f"%0 = fn (%y: {V}, Primitive=1) {{ exp(%y) }}; %0(%x)", 1, 0),
    ("nothing to lift", "exp(%x)", 1, 0),
)  # fmt: skip


@pytest.mark.parametrize(
    ("body", "functions", "closures"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_literals_are_lifted(body: str, functions: int, closures: int) -> None:
    module = parsed(f"def @main(%x: {V}) {{ {body} }}")
    after = same_value(module, "LambdaLift", ONES)
    assert len(after.names) == functions
    made = [function for _, function in after.relax_functions if attr(function.attrs, "Closure")]
    assert len(made) == closures
    assert all(isinstance(function.body, Function) for function in made)
    inside = {function.body for function in made} | {function for _, function in after.relax_functions}
    literals = [node for _, root in after.relax_functions for node in postorder(root) if isinstance(node, Function)]
    assert all(node in inside or attr(node.attrs, "Primitive") for node in literals)
    assert not last(after, "LambdaLift").is_changed


def test_a_polymorphic_function_lifts_with_its_type_variables() -> None:
    module = parsed(
        "def @later[A](%a: A) -> fn (int32) -> A { fn (%i: int32) -> A { let %q = fn (%u: A) -> A { %u }; %q(%a) } }\n"
        f"def @main(%x: {V}) {{ (@later(True)(1), @later(%x)(2)) }}"
    )
    after = same_value(module, "LambdaLift", ONES)
    lifted = [function for name in after.names[2:] if isinstance(function := after[name], Function)]
    assert [len(function.type_params) for function in lifted] == [1, 1]


def test_what_is_captured_stands_in_the_call() -> None:
    module = parsed(f"def @main(%x: {V}, %k: {V}) {{ let %f = fn (%y: {V}) {{ add(%y, multiply(%k, %x)) }}; %f(%x) }}")
    stage = last(module, "LambdaLift")
    assert "captures %k, %x" in stage.remarks[0].message
    main = stage.after["main"]
    calls = [node for node in postorder(main) if isinstance(node, Call)]
    assert [len(call.args) for call in calls] == [2, 1]


def test_names_are_the_same_in_every_run() -> None:
    text = f"def @main(%x: {V}) {{ let %f = fn (%y: {V}) {{ exp(%y) }}; %f(%x) }}"
    names = {last(parsed(text), "LambdaLift").after.names for _ in range(2)}
    assert len(names) == 1
    assert all(name.startswith("lifted_name") for name in next(iter(names))[1:])


def test_a_lifted_program_runs_in_the_machine() -> None:
    module = parsed(f"def @main(%step: {V}) {{ {LOOP}%loop(5, %step) }}")
    after = last(module, "LambdaLift").after
    np.testing.assert_allclose(rc.VirtualMachine(rc.build(after))["main"](ONES), ONES * 6, rtol=1e-6)


def test_a_shared_value_is_computed_outside_only() -> None:
    module = parsed(f"def @main(%x: {V}) {{ %0 = exp(%x); let %f = fn (%y: {V}) {{ add(%y, %0) }}; %f(%0) }}")
    after = same_value(module, "LambdaLift", ONES)
    assert [operators(after, name) for name in after.names] == [["exp"], ["add"]]
